"""How large things are: estimates without a network, what was reported, and the limits of the window.

In reading order: `pieces`, `media`, `rates`, `estimate`, `rounds`, `calibration`, `count`, `usage`, `window`.
"""
