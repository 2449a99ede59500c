"""tilelang.cuda: what is of NVIDIA's GPUs."""

from tilec import modules as _modules

_modules.become(__name__)
