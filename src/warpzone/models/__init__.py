"""Networks: encoders, recurrent cores and the actor-critic. Independent of any game."""
