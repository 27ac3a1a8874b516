"""The fastest exact Super Mario Bros. environment for reinforcement learning."""

__version__ = "0.1.0"

__all__ = ["Console", "__version__"]


def __getattr__(name: str) -> object:
    # Importing NumPy and the native core takes time that `warpzone --help` need not spend.
    if name == "Console":
        from warpzone.console import Console

        return Console
    raise AttributeError(f"module 'warpzone' has no attribute {name!r}")
