"""How fast, how small and how safe a memory directory is: `python -m bench.store`."""
