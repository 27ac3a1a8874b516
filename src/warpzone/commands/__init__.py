"""Subcommands of `warpzone`: options as dataclasses, work imported only when it runs."""
