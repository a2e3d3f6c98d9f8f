"""Readers of files that others may have made, and what was found by throwing damaged ones."""
