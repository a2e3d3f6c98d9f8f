"""Custom translators: how they are found and called, and how they add nodes to the graph."""
