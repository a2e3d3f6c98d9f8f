"""Whole models: random weights, the architectures that people export.

`zoo.MODELS` holds them by name; each builds at a small size for tests and at its published size
for the benchmark.
"""
