# run: --emit=ir %s
# A kernel's constants are what the module's statements have made of them when it ends: 1, 12, 0.125, 9, 4. Host code is left alone, and the
# part of the main program, too.
import torch
import warp as wp

WEIGHTS = []
for k in range(3):
    WEIGHTS.append(0.5 ** (k + 1))
torch.save(torch.tensor(WEIGHTS), "weights")
print(WEIGHTS)
for weight in WEIGHTS:
    torch.cuda.synchronize(weight)

TABLE = {"x": 0}


def register(function):
    TABLE[function.key] = len(TABLE)
    return function


@register
@wp.func
def twice(x: float):
    return x + x


TABLE["x"] += 12


class Settings:
    width = 2


Settings.width = 9
alias = Settings
counts = [[0], [0]]
row = counts[1]
row[0] = 4

if __name__ == "__main__":
    counts[1][0] = 1000


@wp.kernel
def show(x: wp.array(dtype=float)):
    x[TABLE["twice"]] = float(TABLE["x"])
    x[0] = WEIGHTS[2]
    x[Settings.width] = float(counts[1][0])


show.compile(block_dim=32)
TABLE["y"] = 3
