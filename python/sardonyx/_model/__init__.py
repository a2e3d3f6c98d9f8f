"""What an export returns: an ONNX model, and what can be done with it."""
