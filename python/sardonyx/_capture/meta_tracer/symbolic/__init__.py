"""Symbolic sizes, and what was asked of them."""
