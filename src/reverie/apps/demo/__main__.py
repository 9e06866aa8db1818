"""`make demo`."""
