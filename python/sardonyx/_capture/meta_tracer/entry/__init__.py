"""The entry of fake-tensor tracing, and the program that it gives."""
