"""What is patched in PyTorch while a model is captured."""
