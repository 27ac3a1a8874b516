"""Learning: returns and losses as pure functions, schedules, and the learner. Knows no game."""
