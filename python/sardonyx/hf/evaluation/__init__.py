"""Exported folders, run and compared with PyTorch."""
