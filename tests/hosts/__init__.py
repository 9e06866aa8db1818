"""Tests of readers of other agents' sessions."""
