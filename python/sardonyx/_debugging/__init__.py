"""Where a model differs from the program that it was made of."""
