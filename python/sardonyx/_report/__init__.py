"""What is told of an export: reports, SARIF, the time of each step."""
