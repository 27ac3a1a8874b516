"""Machines that the game can run on: our own console, and nes-py."""
