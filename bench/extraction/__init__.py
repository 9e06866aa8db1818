"""Precision and recall of extraction without a model, on labelled messages."""
