"""Dreams: what they take, and what is left when they are killed."""
