"""Playing by hand in a window."""
