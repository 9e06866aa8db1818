"""Replays a recorded session request by request through a context strategy.

Reading order: `strategies` (the usual ways to compare ours with), `run` (what was asked when, each request through
strategy, validation and cache), `survival` (what a compaction lost), `figures` (what it amounted to), `picture` (the
same drawn).
"""
