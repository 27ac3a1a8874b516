"""Prioritized replay: pictures kept once, transitions drawn in proportion to what they teach."""
