"""Keeps a capture from changing the model and the process."""
