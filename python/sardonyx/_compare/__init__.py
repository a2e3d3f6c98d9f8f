"""How far two tensors are from each other, and when they count as equal."""
