"""What the simulator refuses."""
