"""The part of `sardonyx serve` that is written in Python: `--watch`."""
