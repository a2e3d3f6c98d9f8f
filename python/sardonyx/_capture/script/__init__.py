"""Programs of TorchScript that are in memory, read as their archives are."""
