"""Games in processes: Gymnasium's vectors with a start that works, and the surface of our pool."""
