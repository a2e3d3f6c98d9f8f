"""Checkpoints: formats, weights, and models built without them."""
