"""transformers' own tests of its exporters, run through another backend of them."""
