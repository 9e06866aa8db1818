"""What the model sees.

`stage` is the shape of everything that reduces a view.
"""
