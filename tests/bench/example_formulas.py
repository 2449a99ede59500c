"""example_formulas.py: what kernels of other systems' examples are to compute, in torch's float64: for rows of examples.py whose origin's
own compiler gives other numbers, so that it is known which of the two is right. Each takes torch and a dict of tensors by the names of
the row's arguments, and gives some of the results by their names. Where kernels keep a value in a narrow type between two products, the
formulas do so, too."""


def rounded(value, like):
    return value.to(like.dtype).double()


def product_transposed(torch, a):
    return {"c": a["a"].double() @ a["b"].double().T}


def attention_with_latent(torch, a):
    """One query per head and batch of two parts, against rows that are keys and values in one."""
    keys, queries = torch.cat([a["KV"], a["Kp"]], -1)[:, :, 0].double(), torch.cat([a["Q"], a["Qp"]], -1).double()
    scores = torch.einsum("bhd,bsd->bhs", queries, keys) / queries.shape[-1] ** 0.5
    return {"O": torch.einsum("bhs,bsd->bhd", scores.softmax(-1), a["KV"][:, :, 0].double())}


def in_chunks(tensor, chunk=64):
    """(batch, rows, heads, ...) as (chunk, batch, heads, rows of the chunk, ...)."""
    b, s, h, *rest = tensor.shape
    order = [1, 0, 3, 2] + [4 + i for i in range(len(rest))]
    return tensor.double().view(b, s // chunk, chunk, h, *rest).permute(order)


def of_chunks(torch, chunks):
    """in_chunks the other way round."""
    stacked = torch.stack(chunks)
    order = [1, 0, 3, 2] + list(range(4, stacked.dim()))
    return stacked.permute(order).flatten(1, 2)


def gates_of(torch, a, base):
    """Of each chunk: what the state is multiplied by, and what its tokens are; a gate per key (kda) leaves those alone."""
    for g in in_chunks(a["G"]):
        last = g[:, :, -1]
        yield (base(last)[..., None], None) if g.dim() == 4 else (base(last)[..., None, None], base(last[..., None] - g)[..., None])


def delta_forward(base):
    """States of a gated delta rule, chunk by chunk."""
    def formula(torch, a):
        state = a["h0"].double()
        seen, states, news = rounded(state, a["h0"]), [], []
        for k, w, u, (gate, each) in zip(in_chunks(a["K"]), in_chunks(a["W"]), in_chunks(a["U"]), gates_of(torch, a, lambda x: base(torch, x))):
            new = u - w @ seen
            states.append(seen)
            news.append(new)
            state = state * gate + k.transpose(-1, -2) @ rounded(new if each is None else new * each, a["V"])
            seen = rounded(state, a["h"])
        return {"h": torch.stack(states, 1), "ht": state, "V": of_chunks(torch, news)}
    return formula


def delta_backward(base, scale):
    def formula(torch, a):
        state, states, news = a["dht"].double(), [], []
        gates, tokens = list(gates_of(torch, a, lambda x: base(torch, x))), [in_chunks(a[name]) for name in ("Q", "K", "W", "dO", "dv", "G")]
        for i in reversed(range(len(gates))):
            (gate, each), (q, k, w, do, dv, g) = gates[i], [t[i] for t in tokens]
            seen = rounded(state, a["dh"])
            change = k @ seen
            new = rounded((change if each is None else change * each) + dv, a["dv2"])
            q = q if each is None else q * base(torch, g)[..., None]
            state = state * gate + scale * q.transpose(-1, -2) @ do - w.transpose(-1, -2) @ new
            states.insert(0, seen)
            news.insert(0, new)
        return {"dh": torch.stack(states, 1), "dh0": state, "dv2": of_chunks(torch, news)}
    return formula


def exp(torch, x):
    return x.exp()


def exp2(torch, x):
    return x.exp2()


def doubly_stochastic(torch, matrices, size, device="cuda", rounds=100):
    """As Sinkhorn's iteration leaves them: rows and columns that sum to one."""
    m = torch.rand(matrices, size, size, device=device).mul(4).exp()
    for _ in range(rounds):
        m = m / m.sum(-2, keepdim=True)
        m = m / m.sum(-1, keepdim=True)
    return m


def sinkhorn_backward(torch, a):
    """The gradient that goes into exp, through matrices that are doubly stochastic: what is left of it when what is along rows and
    columns is taken away."""
    r, d = a["out"].double(), a["dout"].double()
    size = r.shape[-1]
    one = torch.eye(size, device=r.device, dtype=r.dtype).expand(r.shape)
    system = torch.cat([torch.cat([one, r], -1), torch.cat([r.transpose(-1, -2), one], -1)], -2)
    sums = torch.cat([(r * d).sum(-1), (r * d).sum(-2)], -1)
    # Ones against ones solve it for 0, and are made an own direction: they change no result.
    alike = torch.tensor([1.0] * size + [-1.0] * size, device=r.device, dtype=r.dtype)
    system = system + alike[:, None] * alike / (2 * size)
    x = torch.cat([torch.linalg.solve(*part) for part in zip(system.split(8192), sums.split(8192))])  # by as many matrices as solvers take at a time
    return {"res": (d - x[..., :size, None] - x[..., None, size:]) * r}


def product_backward(torch, a):
    """Of C = A B."""
    g = a["C_grad"].double()
    return {"A_grad": g @ a["B"].double().T, "B_grad": a["A"].double().T @ g}


def perceptron_backward(size, count):
    """Of the squared error of four layers that paint a picture of size by size: Warp's example_tile_mlp."""
    def formula(torch, a):
        place = a["indices"].long()
        x, y = [(v.double() / size - 0.5) * 2 for v in (place // size, place % size)]
        scales = [2.0 ** s * torch.pi for s in range(8)]
        z = torch.stack([f(v * scale) for scale in scales for v in (x, y) for f in (torch.sin, torch.cos)])
        names = [f"{kind}_{i}" for i in range(4) for kind in ("weights", "bias")]
        given = {name: a[name].double().requires_grad_() for name in names}
        for i in range(4):
            z = (given[f"weights_{i}"] @ z + given[f"bias_{i}"]).relu()
        loss = ((z - a["reference"].double()[:, place]) ** 2).sum() / (3 * count) * a["loss_grad"].double() + (z * a["out_grad"].double()[:, place]).sum()
        loss.backward()
        return {name + "_grad": value.grad for name, value in given.items()}
    return formula
