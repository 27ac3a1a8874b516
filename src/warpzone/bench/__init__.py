"""Benchmarks that users can run."""
