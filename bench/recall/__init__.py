"""Quality, abstention and speed of recall, beside the usual ways: `python -m bench.recall`."""
