"""From any ONNX model to a smaller one that computes the same."""
