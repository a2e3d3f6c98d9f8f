"""Optimizers of ONNX models compared with each other, in one run: `make bench-optimize`.

    python -m bench.optimizers                              everything, small
    python -m bench.optimizers --models bert --size full    one model at its published size
    python -m bench.optimizers --parts nodes                the node models of the onnx package
    python -m bench.optimizers --parts files --sources DIR  the models and wheels under a folder

Each optimizer reads a file and writes one in a process of its own. Third-party optimizers have a
virtual environment of their own (tools/setup_peers.sh), and a missing one is reported. Models are
exported once and kept. Answers are compared with those of the model before, by ONNX Runtime with
its optimizer off. Latency is taken in interleaved runs with its optimizer on, on one thread.
"""
