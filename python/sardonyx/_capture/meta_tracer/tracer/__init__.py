"""The tracer: records the calls of a module while it runs."""
