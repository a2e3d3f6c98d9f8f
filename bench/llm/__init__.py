"""Language models compared with onnxruntime-genai's model builder: both make a folder of the same
random checkpoint, and onnxruntime-genai runs both in interleaved runs.

`make bench-llm` prints for each model and precision: nodes, seconds and memory to make it,
milliseconds for a prompt of 512 tokens and for each token after it, and whether both choose the
same tokens.
"""
