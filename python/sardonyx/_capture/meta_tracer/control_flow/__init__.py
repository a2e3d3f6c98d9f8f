"""Control flow: bodies, branches, and runs that explore both."""
