"""What is lost when writers are killed, and when many write at once."""
