"""AMD's GPUs: kernels are not compiled for them."""
