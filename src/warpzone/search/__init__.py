"""Search with save states: finding, storing and verifying solutions of levels."""
