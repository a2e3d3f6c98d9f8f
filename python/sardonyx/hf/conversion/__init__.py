"""One export, from a checkpoint to a folder."""
