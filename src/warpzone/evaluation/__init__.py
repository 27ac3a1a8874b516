"""Policies, policy files, and evaluation of levels and of whole games."""
