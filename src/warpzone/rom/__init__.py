"""The game image: finding, checking and fetching it."""
