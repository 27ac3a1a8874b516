"""Scripted progress, rescue, adaptive control and hints."""
