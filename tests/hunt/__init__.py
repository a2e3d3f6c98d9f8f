"""Hunts for faults with random programs, random graphs and many sizes: `make hunt MINUTES=10`."""
