"""warp.fem is not here: what its names decorate or make is an error where it is used."""

from tilec.modules import Absent as _Absent
from warp._src import absent as _absent


def integrand(function=None, **options):
    if function is None:
        return integrand
    return _Absent(f"warp.fem.integrand({function.__name__})")


__getattr__ = _absent(__name__)
