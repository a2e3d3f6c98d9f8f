"""Models across each change between the versions of ONNX's operators."""
