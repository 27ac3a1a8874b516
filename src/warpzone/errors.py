"""Errors that warpzone raises on purpose; each carries one sentence that says what to do."""


class WarpzoneError(Exception):
    """Base of all errors that a user can mend; the command line prints them without a traceback."""


class RomError(WarpzoneError, ValueError):
    """A game image is missing, damaged, or not the game."""


class CartridgeError(RomError):
    """An image is no cartridge that the console can run."""


class ConfigError(WarpzoneError, ValueError):
    """A parameter, an action or another value is not allowed."""


class StateError(WarpzoneError, ValueError):
    """A save state is cut, altered, or made for something else."""


class LaneError(WarpzoneError, RuntimeError):
    """Lanes of a vector environment failed; the text names each and why."""


class ClosedError(WarpzoneError, RuntimeError):
    """A closed environment was used."""


class UnknownRomWarning(UserWarning):
    """A game image has the game's shape but is none of the known dumps."""
