"""What each setting changes, seen from outside: `rows` has a row for every key, `doors` the ways in."""
