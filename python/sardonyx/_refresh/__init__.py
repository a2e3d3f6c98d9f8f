"""Other weights for an exported model: `sardonyx refresh`."""
