"""Dynamic dimensions: how users ask for them, and what capture does with them."""
