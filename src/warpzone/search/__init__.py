"""Search with save states: finding, keeping and proving ways through levels."""
