"""Diagnosing an installation, and testing that environments start reliably."""
