# Tensors of packed integers that TileLang's quantize package makes, which a kernel decodes with the package's functions; texts of
# CUDA C++ that are not the package's are refused.
needs torch
export TILE_DEVICE=emulator
cat >"$TMP/quantize.py" <<'P'
import tilelang
import tilelang.language as T
import torch
from tilelang.quantize import gen_quant4, general_compress, get_lop3_intrin_group, interleave_weight
from tilelang.quantize.mxfp import get_mxfp_intrin_group


def decoder(source, name, size, count, dtype):
    @T.prim_func
    def main(P: T.Tensor([32 * size], T.int8), D: T.Tensor([32 * count], dtype)):
        with T.Kernel(1, threads=32):
            T.import_source(source)
            t = T.get_thread_binding()
            packed = T.alloc_local([size], T.int8)
            found = T.alloc_local([count], dtype)
            for v in T.vectorized(size):
                packed[v] = P[t * size + v]
            T.call_extern("handle", name, T.access_ptr(packed, "r"), T.access_ptr(found, "w"))
            for v in T.vectorized(count):
                D[t * count + v] = found[v]

    return tilelang.compile(main)


torch.manual_seed(1)
for dtype, count in ((T.float16, 8), (T.int8, 16)):
    for nbits in (1, 2, 4):
        numbers = torch.randint(0, 1 << nbits, (1, 32 * count))
        packed = interleave_weight(general_compress(numbers, nbits), nbits, dtype).reshape(-1)
        info = get_lop3_intrin_group(dtype, T.uint, nbits)
        decoded = torch.zeros(32 * count, dtype=dtype.as_torch())
        decoder(info["c_source"], info["func_name"], count * nbits // 8, count, dtype)(packed, decoded)
        print(info["func_name"], torch.equal(decoded, numbers.reshape(-1).to(decoded.dtype)))
print(get_mxfp_intrin_group(T.bfloat16, use_twiddling=True)["func_name"])
weights, linear, scales, numbers = gen_quant4(64, 8, 32)
print(scales.shape, torch.allclose(linear.weight.T.half(), numbers.half() * scales.repeat_interleave(32, 0)))
P
cat >"$TMP/refused.py" <<'P'
from quantize import decoder, T

text = "__device__ void decode_i4u_to_f16(char *p, half *d) { *d = 1; }"
try:
    decoder(text, "decode_i4u_to_f16", 4, 8, T.float16)
except Exception as error:
    print(str(error).splitlines()[0])
P
cd "$TMP" && python3 -m tilec run quantize.py && python3 -m tilec run refused.py | sed -n 's,.*/quantize.py,quantize.py,p'
