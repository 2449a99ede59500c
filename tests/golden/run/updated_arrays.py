# run: run %s
# Operators in place write into the array, and into what it is a view of.
import numpy
import torch


def lessen(x):
    x -= 1


t = torch.zeros(4)
same = t
same += 1
part = t[1:]
part += 1
part *= 2
lessen(t)
held = [t, {"it": t}]
held[0] += 10
held[1]["it"] += 10
t[0] += 5
half = torch.ones(2, dtype=torch.float16)
half += torch.ones(2) / 3
print(t.tolist(), half.dtype == torch.float16, half.tolist())
a = numpy.arange(6).reshape(2, 3)
b = a.T
b //= 2
number = a.sum()
before = number
number += 1
print(a.tolist(), number - before)
try:
    a /= 2
except TypeError as error:
    print("no")
