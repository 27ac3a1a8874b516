"""The configuration of a run: options, presets, files and variables."""
