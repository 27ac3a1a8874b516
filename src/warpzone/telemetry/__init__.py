"""What a run reports: metrics, episodes, heartbeat, resources, progress on the terminal.

Nothing here imports torch or a producer of the numbers: producers call this package.
"""
