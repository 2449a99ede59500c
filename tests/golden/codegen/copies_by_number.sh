# A thread's own copies between places that are told by the numbers of elements, of rows or of whole memory: 16 bytes at a time.
cat > $TMP/a.tile <<'T'
import tilelang
import tilelang.language as T


@tilelang.jit
def rows(A: T.Tensor[[64, 96], T.float16], to_number: bool, from_number: bool):
    C = T.empty((64, 128), T.float16)
    with T.Kernel(16, threads=64) as b:
        s = T.alloc_shared((4, 128), T.float16)
        for i, j in T.Parallel(4, 16):
            row = b * 4 + i
            to = T.access_ptr(s[i, j * 8], "w", 8)
            if to_number:
                to = T.tvm_access_ptr(T.type_annotation("float16"), s.data, i * 128 + j * 8, 8, 2)
            source = T.access_ptr(A[row, j * 8], "r", 8)
            if from_number:
                source = T.tvm_access_ptr(T.type_annotation("float16"), A.data, row * 96 + j * 8, 8, 1)
            T.ptx_cp_async(to, source, 8, predicate=j < 12)
        T.ptx_commit_group()
        T.ptx_wait_group(0)
        T.copy(s, C[b * 4, 0])
    return C
T
for way in 'False, False' 'True, False' 'False, True' 'True, True'; do
  echo "$way: $($TILEC $TMP/a.tile --arch=sm_90a --export "k = rows.compile(to_number=${way%,*}, from_number=${way#*, })" --emit=ptx | awk '/^\.visible \.entry/ { aligned = /_aligned/ } aligned && /cp\.async\.c[ag]/' | grep -oE 'cp\.async\.c[ag].*(16|8|4),' | sed 's/\[.*\],//' | uniq -c | xargs)"
done
