"""Training: the loop, the run directory, checkpoints and resuming."""
