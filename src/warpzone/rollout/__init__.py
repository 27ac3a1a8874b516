"""Collecting: storage that the environment writes into, and the collector."""
