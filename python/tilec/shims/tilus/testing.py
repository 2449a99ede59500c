"""What Tilus's tests use of tilus.testing."""

from tilec import device as _device
from tilec import modules as _modules
from tilec import native as _native


class requires:
    """Decorators that skip a test where the device is not such a GPU; the emulator is one of sm_90a."""

    class _Chip:
        def __init__(self, number, suffix=""):
            self.number = number
            self.suffix = suffix

        def __call__(self, function):
            import pytest

            has = 90 if _device.is_emulator() else _native.device_compute(0)
            fine = has // 10 == self.number // 10 and has >= self.number if self.suffix else has >= self.number
            return pytest.mark.skipif(not fine, reason=f"needs sm_{self.number}{self.suffix}")(function)

    nvgpu_sm80, nvgpu_sm89, nvgpu_sm90, nvgpu_sm90a = _Chip(80), _Chip(89), _Chip(90), _Chip(90, "a")
    nvgpu_sm100, nvgpu_sm100a, nvgpu_sm100f = _Chip(100), _Chip(100, "a"), _Chip(100, "f")
    nvgpu_sm120, nvgpu_sm120a = _Chip(120), _Chip(120, "a")


_modules.become(__name__)
