"""Meta kernels: dtype, sizes and strides of operators' results."""
