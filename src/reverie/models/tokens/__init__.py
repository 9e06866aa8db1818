"""Token counts: estimates without a network, reported usage, and the limits of the window.

In reading order: `media`, `rates`, `estimate`, `rounds`, `count`, `usage`, `window`.
"""
