"""Videos, images and contact sheets of episodes."""
