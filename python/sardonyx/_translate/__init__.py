"""Translators of the user's own: how they are found, called, and add nodes to the graph."""
