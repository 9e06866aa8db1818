"""The simulator, module by module."""
