"""Runs on disk: directories, checkpoints, locks, resuming, listing."""
