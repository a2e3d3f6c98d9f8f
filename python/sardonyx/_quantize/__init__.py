"""Static quantization: calibration in ONNX Runtime, and the quantized model."""
