"""Running models in ONNX Runtime."""
