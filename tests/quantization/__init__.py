"""Static quantization."""
