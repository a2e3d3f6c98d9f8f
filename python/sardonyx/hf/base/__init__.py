"""What every part of the Hugging Face export shares."""
