"""What the operating system offers: atomic files, locks, processes, signals, processor cores."""
