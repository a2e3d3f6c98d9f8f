"""What the built site answers. `make site` builds it and runs these."""
