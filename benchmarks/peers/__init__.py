"""Other emulators: how they are installed, and the workers that run inside their environments."""
