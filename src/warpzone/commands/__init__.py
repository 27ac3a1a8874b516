"""Subcommands of `warpzone`: dataclasses of options; heavy imports happen in `run`."""
