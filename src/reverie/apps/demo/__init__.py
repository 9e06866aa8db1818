"""What `make demo` shows: the real program on sample sessions (`story`, then `team`), with no key and no network."""
