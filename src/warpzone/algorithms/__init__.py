"""Learning algorithms: interface, PPO, APPO, V-trace, self-imitation. Independent of any game."""
