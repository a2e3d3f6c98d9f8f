"""The onnx package's node models through `optimize`, and into every opset."""
