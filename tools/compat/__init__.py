"""Environments of other releases of the packages we work with, and what runs in them."""
