"""cudnn_attention.py: attention by cuDNN itself (nvidia-cudnn-frontend), for what torch does not give it: 256 numbers a head, heads that share
keys, windows, sequences of several lengths behind one another."""
import math


def caller(row, tensors):
    """A callable that makes the row's result in a tensor of its own, which is its attribute `out`. Of the row's `cudnn`: `layout`, the order of its
    tensors' dimensions ("bhsd", "bshd", or "shd", of sequences behind one another); `causal`; `window`, how many keys a row sees; `ends`, the
    argument that says where sequences end, and `longest`."""
    import cudnn
    import torch
    asked = row["cudnn"]
    named = {name: t for (name, *_), t in zip(row["args"], tensors)}
    q, k, v = named["Q"], named["K"], named["V"]
    out = torch.empty_like(q)
    graph = cudnn.pygraph(io_data_type={torch.float16: cudnn.data_type.HALF, torch.bfloat16: cudnn.data_type.BFLOAT16}[q.dtype],
                          intermediate_data_type=cudnn.data_type.FLOAT, compute_data_type=cudnn.data_type.FLOAT, handle=handle())
    more, values, offsets = {}, {}, {}
    if asked["layout"] == "shd":
        ends = named[asked["ends"]]
        count = len(ends) - 1
        lengths = (ends[1:] - ends[:-1]).view(count, 1, 1, 1).contiguous()
        length = graph.tensor_like(lengths)
        values[length] = lengths
        more = dict(use_padding_mask=True, seq_len_q=length, seq_len_kv=length)
        for heads in {q.shape[1], k.shape[1]}:
            elements = (ends * (heads * q.shape[2])).view(count + 1, 1, 1, 1).contiguous()
            offsets[heads] = graph.tensor_like(elements)
            values[offsets[heads]] = elements

    def described(t):
        if asked["layout"] == "shd":
            s, h, d = t.shape
            shape, stride = (len(named[asked["ends"]]) - 1, h, asked["longest"], d), (asked["longest"] * h * d, d, h * d, 1)
        else:
            order = [asked["layout"].index(c) for c in "bhsd"]
            shape, stride = [t.shape[i] for i in order], [t.stride(i) for i in order]
        return list(shape), list(stride)

    def given(name, t):
        shape, stride = described(t)
        made = graph.tensor(name=name, dim=shape, stride=stride)
        if offsets:
            made.set_ragged_offset(offsets[t.shape[1]])
        values[made] = t
        return made
    if asked.get("causal"):
        more.update(diagonal_alignment=cudnn.diagonal_alignment.BOTTOM_RIGHT if asked.get("bottom") else cudnn.diagonal_alignment.TOP_LEFT, diagonal_band_right_bound=0)
    if asked.get("window"):
        more.update(diagonal_band_left_bound=asked["window"])
    result, _ = graph.sdpa(name="attention", q=given("Q", q), k=given("K", k), v=given("V", v), generate_stats=False, attn_scale=1 / math.sqrt(q.shape[-1]), **more)
    shape, stride = described(out)
    result.set_output(True).set_dim(shape).set_stride(stride)
    if offsets:
        result.set_ragged_offset(offsets[q.shape[1]])
    values[result] = out
    graph.validate()
    graph.build_operation_graph()
    graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
    graph.check_support()
    graph.build_plans()
    workspace = torch.empty(max(graph.get_workspace_size(), 1), device="cuda", dtype=torch.uint8)

    def call():
        cudnn.set_stream(handle=handle(), stream=torch.cuda.current_stream().cuda_stream)
        graph.execute(values, workspace, handle=handle())
    call.out = out
    return call


def handle(made=[]):
    import cudnn
    if not made:
        made.append(cudnn.create_handle())
    return made[0]
