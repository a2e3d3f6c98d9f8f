"""Guards on sizes and data: what capture specialized, and why."""
