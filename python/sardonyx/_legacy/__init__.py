"""The interfaces that came before `export`."""
