"""Token counts: estimates without a network, reported usage, and the limits of the window.

In reading order: `pieces`, `media`, `rates`, `estimate`, `rounds`, `calibration`, `count`, `usage`, `window`.
"""
