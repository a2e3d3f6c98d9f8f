"""Example inputs of models."""
