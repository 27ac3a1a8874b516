"""Finds out what is wrong with a machine, and whether environments start on it every time."""
