"""What an export writes."""
