"""Where episodes start and which level they play."""
