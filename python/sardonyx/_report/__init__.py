"""Output about an export: reports, SARIF, the time of each step."""
