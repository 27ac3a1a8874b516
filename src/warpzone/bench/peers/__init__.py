"""Other projects: installing them, and the workers that run inside their environments."""
