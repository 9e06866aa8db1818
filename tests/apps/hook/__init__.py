"""Tests of the hooks that other agents call."""
