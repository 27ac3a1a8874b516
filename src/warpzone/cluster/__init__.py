"""Training with Ray: actors play on any number of machines, and one learner updates the policy."""
