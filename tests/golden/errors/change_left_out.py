# run: --emit=ir %s
# A statement that certainly changes what a kernel needs, and needs a host module itself, leaves no value to go on with.
import numpy as np
import warp as wp

WEIGHTS = [1.0, 2.0]
np.savetxt("weights", WEIGHTS)
for i in range(2):
    WEIGHTS[i] *= 2.0
    WEIGHTS.append(np.random.rand())


@wp.kernel
def scale(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = x[i] * WEIGHTS[0]


scale.compile(block_dim=32)
