"""Tensors of packed integers, in the order in which T.call_extern's decoders take them."""


def general_compress(lowprecision_weight, source_bits=4, storage_dtype=None):
    """Of the last dimension as many numbers in a byte as go into it, the first one in its low bits."""
    import torch

    each = 8 // source_bits
    parts = lowprecision_weight.to(torch.int8).unflatten(-1, (-1, each)).to(torch.int32)
    shifts = torch.arange(each, dtype=torch.int32, device=parts.device) * source_bits
    packed = torch.zeros_like(parts[..., 0])
    for k in range(each):
        packed |= parts[..., k] << shifts[k]
    return packed.to(torch.int8).to(torch.int8 if storage_dtype is None else storage_dtype)


# What of a word changes places behind the numbers' own order, by the bits of one and its type: the size of a part in bits, and
# where each part goes.
_PARTS = {
    (1, "int8"): (4, (0, 4, 2, 6, 1, 5, 3, 7)),
    (2, "float16"): (8, (0, 2, 1, 3)),
    (1, "float16"): (4, (0, 2, 4, 6, 1, 3, 5, 7)),
}


def interleave_weight(qweight, nbits=4, target_dtype="float16"):
    """Of each word of packed numbers the order in which they are decoded: neighbours in neighbouring halves (float16) or bytes
    (int8) of the word."""
    import torch

    target = str(target_dtype)
    if target not in ("float16", "int8"):
        raise AssertionError(f"target_dtype is float16 or int8, not {target}")
    words = qweight.view(torch.int32)
    stride = 8 if target == "int8" else 16
    groups = 32 // stride
    size, order = _PARTS.get((nbits, target), (32, (0,)))
    found = torch.zeros_like(words)
    for place in range(32 // nbits):
        at = place % groups * stride + place // groups * nbits
        at = order[at // size] * size + at % size
        number = (words >> nbits * place) & (1 << nbits) - 1
        found |= number << at
    return found.view(torch.int8)


def gen_quant4(k, n, groupsize=-1):
    """A random matrix, the linear layer of what is left of it in four bits, its scales, and the numbers: -8 to 8."""
    import torch

    groupsize = k if groupsize == -1 else groupsize
    weights = torch.randn((k, n), dtype=torch.half, device="cpu")
    groups = weights.reshape(-1, groupsize, n)
    scales = groups.abs().amax(1, keepdim=True) * (2 / 16)
    numbers = torch.clamp(torch.round(groups / scales).int() + 8, 0, 16) - 8
    linear = torch.nn.Linear(k, n, bias=False)
    linear.weight.data = (numbers.half() * scales).reshape(k, n).t()
    return weights, linear, scales.reshape(-1, n).contiguous(), numbers.reshape(k, n)
