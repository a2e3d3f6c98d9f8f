"""Models and a decoder on ONNX Runtime's CUDA provider, next to other exporters of ONNX models.

`make bench-cuda` makes BERT, GPT-2, a Llama, ViT, Swin, the encoders of Whisper and T5 and a U-Net
of diffusion, in float32, float16, bfloat16 and with int4 weights: by Sardonyx for the provider and
for the standard at opset 23, by torch.onnx, and by ONNX Runtime's optimizer for transformers. With
a GPU it prints the milliseconds of interleaved, synchronized runs for batches of 1 and 8, next to
eager PyTorch and torch.compile, and the nodes by provider. Without one, it makes the models small,
counts nodes, prints by the recorded kernels (`tools/kernels/cuda`) what a GPU would leave to the
CPU, and compares the answers of the CPU provider with PyTorch's.

Ours with fixed sizes is one CUDA graph, next to torch.compile's reduce-overhead.
`--architectures N` runs so many small models of transformers on the provider, in float32 with
dynamic sizes, compares them with eager PyTorch and counts what is on the CPU.

The decoder is a folder for onnxruntime-genai, next to that of its model builder.

A GPU that is lent for half an hour: `make bench-cuda ARGS="--results build/cuda.json --minutes 9"`
measures all of it, what matters most first: the models in float16, the decoder, 57 architectures in
float32 and float16, the other precisions. What is done is in the file; the same command goes on
with the rest, and ends with a table of what models on a GPU are to show, and whether they do.
"""
