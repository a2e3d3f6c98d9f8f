"""What every package stands on: errors, element types, what differs between releases of PyTorch."""
