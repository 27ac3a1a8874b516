"""Errors that warpzone raises on purpose; each carries one sentence that says what to do."""


class WarpzoneError(Exception):
    """Base of all errors that a user can mend; the command line prints them without a traceback."""


class RomError(WarpzoneError, ValueError):
    """A game image is missing, damaged, or not the game."""


class UnknownRomWarning(UserWarning):
    """A game image has the game's shape but is none of the known dumps."""
