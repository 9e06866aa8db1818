"""WHAT THE MODEL CAN DO.

`tool` is the shape of every tool, `desk` what all tools of one agent share, `seen_files` which files it has read.
"""
