"""The loop.

`flow` drives everything that asks a model without holding one, `events` says what happens in a turn, `log` is a
conversation as it grows, `preparing` makes its requests.
"""
