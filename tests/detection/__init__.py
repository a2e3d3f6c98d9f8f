"""torchvision's models that find objects. `make detection` has what they need."""
