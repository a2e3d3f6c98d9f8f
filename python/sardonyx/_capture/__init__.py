"""From a model to the program that torch.export captures of it."""
