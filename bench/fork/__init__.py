"""How much of a conversation a fork reads from its parent's cache."""
