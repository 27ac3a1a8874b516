"""Training: trainer, loop, sessions, curriculum and guidance."""
