"""The ways to capture a module, the best first."""
