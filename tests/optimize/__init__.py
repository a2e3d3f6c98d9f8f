"""`sardonyx optimize` and `sardonyx.optimize`: any model, in any of the forms it comes in."""
