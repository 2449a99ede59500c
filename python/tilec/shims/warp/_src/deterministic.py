"""See warp.determinism."""

from warp._src import absent as _absent
from warp.determinism import overlap as _deterministic_arrays_overlap  # noqa: F401

__getattr__ = _absent(__name__)
