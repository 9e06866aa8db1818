"""What it weighs: facts per model, estimates without a network, what was reported, and the lines of the window.

In reading order: `names`, `profiles`, `pieces`, `media`, `rates`, `estimate`, `rounds`, `calibration`, `count`,
`usage`, `window`.
"""
