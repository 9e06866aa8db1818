"""The migrations, in order: `v0001_first_tables`."""
