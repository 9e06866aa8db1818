"""What people bring."""
