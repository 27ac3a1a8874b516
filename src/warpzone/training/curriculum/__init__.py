"""Curriculum: which level an episode plays, and where it starts."""
