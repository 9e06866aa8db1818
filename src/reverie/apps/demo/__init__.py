"""What `make demo` shows: the real program on a sample session, with no key and no network."""
