"""Judges the exporter on PyTorch's operator database (OpInfo), sample by sample.

``python -m tests.opinfo --help`` runs it; ``test_opinfo.py`` runs a fixed part under pytest.
"""
