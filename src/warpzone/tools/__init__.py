"""What serves people rather than programs: benchmarks, and a window to play in."""
