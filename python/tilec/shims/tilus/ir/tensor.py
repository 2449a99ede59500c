"""Tensors of nodes that programs make by hand. In annotations of kernels the classes are the library's."""

from tilec import session


class _Kind(type):
    def __tile_remote__(cls):
        return getattr(session.module("tilus.ir.tensor"), cls.__name__)


class Tensor:
    def __init__(self, dtype, shape=None, layout=None):
        if shape is None and layout is None:
            raise ValueError(f"a {type(self).__name__} has a shape, or a layout")
        if shape is not None and layout is not None and list(shape) != list(layout.shape):
            raise ValueError(f"the shape {list(shape)} is not that of the layout, {list(layout.shape)}")
        self.dtype, self.shape, self.optional_layout = dtype, tuple(layout.shape if shape is None else shape), layout

    def has_layout(self):
        return self.optional_layout is not None

    @property
    def layout(self):
        if self.optional_layout is None:
            raise ValueError("the tensor has no layout yet")
        return self.optional_layout

    def with_layout(self, layout):
        return type(self)(self.dtype, self.shape, layout)


class RegisterTensor(Tensor, metaclass=_Kind):
    @staticmethod
    def create(dtype, *, shape=None, optional_layout=None):
        return RegisterTensor(dtype, shape, optional_layout)


class SharedTensor(Tensor, metaclass=_Kind):
    @staticmethod
    def create(dtype, *, shape=None, optional_layout=None):
        return SharedTensor(dtype, shape, optional_layout)


class GlobalTensor(Tensor, metaclass=_Kind):
    @staticmethod
    def create(dtype, layout):
        return GlobalTensor(dtype, layout=layout)
