"""Learning algorithms: their interface, PPO, V-trace, self-imitation. Nothing knows a game."""
