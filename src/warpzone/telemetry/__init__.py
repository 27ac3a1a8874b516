"""Telemetry of a run: metrics, episodes, heartbeat, resources, progress on the terminal.

This package imports neither torch nor the code that produces the numbers: producers call it.
"""
