"""What a run tells about itself: metrics, episodes, heartbeat, resources, terminal.

Nothing here imports torch or a producer of the numbers: producers call this package.
"""
