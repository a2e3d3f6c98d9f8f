"""The export itself: capture, conversion, and what goes with them."""
