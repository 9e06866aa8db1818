"""The loop.

`flow` drives everything that asks a model without holding one.
"""
