"""Learning algorithms: interface, PPO, V-trace, self-imitation. Independent of any game."""
