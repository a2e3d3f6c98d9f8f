"""Optimisers of ONNX models beside each other, in one run: `make bench-optimize`.

    python -m bench.optimizers                              everything, small
    python -m bench.optimizers --models bert --size full    one model at its published size
    python -m bench.optimizers --parts nodes                the node models of the onnx package

Each optimiser reads a file and writes one in a process of its own; those of others live in a
virtual environment of their own (tools/setup_peers.sh), and one that is missing is told. Models are
exported once and kept. Answers are compared with those of the model before, by ONNX Runtime with
its optimiser off; latency is taken by turns with its optimiser on, on one thread.
"""
