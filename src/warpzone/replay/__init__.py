"""Prioritized replay: frames are stored once, transitions sampled in proportion to priority."""
