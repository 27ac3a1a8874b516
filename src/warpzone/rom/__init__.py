"""ROMs: finding, checking and fetching them."""
