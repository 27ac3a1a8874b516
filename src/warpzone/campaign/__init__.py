"""Training many levels in turn, and the scoreboard of what came out."""
