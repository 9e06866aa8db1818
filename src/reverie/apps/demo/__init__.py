"""What `make demo` shows: the real program on sample sessions (`story`), with no key and no network."""
