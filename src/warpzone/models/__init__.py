"""Networks: encoders, memory cores and the actor-critic made of them. Knows no game."""
