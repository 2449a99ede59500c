"""Arrays of Fabric, which lie in buckets of another program's: annotations name them; kernels do not read them."""

from warp.arrays import _ArrayClass, array_annotation


class fabric_annotation(array_annotation):
    _word = "fabricarray"

    def __repr__(self):
        return f"{self._word}(ndim={self.ndim}, dtype={self.dtype})"


class indexed_fabric_annotation(fabric_annotation):
    _word = "indexedfabricarray"


class _FabricClass(_ArrayClass):
    _said = fabric_annotation


class _IndexedFabricClass(_ArrayClass):
    _said = indexed_fabric_annotation


class fabricarray(metaclass=_FabricClass):
    _rank = 1

    def __new__(cls, *args, dtype=None, ndim=None, **kwargs):
        if not args and not kwargs:
            return cls._said(float if dtype is None else dtype, ndim or cls._rank)
        raise NotImplementedError("arrays of Fabric are not taken: copy them to a wp.array")


class indexedfabricarray(metaclass=_IndexedFabricClass):
    _rank = 1
    __new__ = fabricarray.__new__


def fabricarrayarray(dtype=float, **ignored):
    return fabric_annotation(dtype, 2)


def indexedfabricarrayarray(dtype=float, **ignored):
    return indexed_fabric_annotation(dtype, 2)


__all__ = ["fabricarray", "fabricarrayarray", "indexedfabricarray", "indexedfabricarrayarray"]
