"""Capture by torch.jit.trace, with sizes that stay dynamic."""
