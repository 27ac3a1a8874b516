"""Episodes of a policy, and pictures and videos of them."""
