"""What becomes of files when system calls fail, and of state when an export is interrupted."""
