"""Which parts of a model become ONNX files."""
