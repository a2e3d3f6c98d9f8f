"""Archives that releases of PyTorch since 1.13 wrote, with the answers that they gave."""
