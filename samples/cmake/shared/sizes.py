"""What several kernels of a project share."""

WARPS = 4
