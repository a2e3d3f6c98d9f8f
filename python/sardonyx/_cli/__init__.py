"""Commands of `sardonyx` that are written in Python."""
