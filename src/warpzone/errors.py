"""Errors that warpzone raises on purpose; each carries one sentence that says what to do."""


class WarpzoneError(Exception):
    """Base of all errors that a user can mend; the command line prints them without a traceback."""


class RomError(WarpzoneError, ValueError):
    """A game image is missing, damaged, or not the game."""


class CartridgeError(RomError):
    """An image is no cartridge that the console can run."""


class ConfigError(WarpzoneError, ValueError):
    """A parameter, an action or another value is not allowed."""


class PluginError(ConfigError):
    """A plug-in cannot be imported, or a name that it should register is missing or taken."""


class StateError(WarpzoneError, ValueError):
    """A save state is cut, altered, or made for something else."""


class EnvError(WarpzoneError, RuntimeError):
    """Lanes of a vector environment failed; the text names each and why."""


class InFlightError(WarpzoneError, RuntimeError):
    """An environment was used between `send` and `recv`."""


class ClosedError(WarpzoneError, RuntimeError):
    """A closed environment was used."""


class BackendError(WarpzoneError, RuntimeError):
    """Another emulator is missing, of an untested version, or does not do what it should."""


class WorkerError(WarpzoneError, RuntimeError):
    """A worker process failed; the text names it, what it was doing and the file with its log."""


class LockError(WarpzoneError, RuntimeError):
    """A file lock was not free in time."""


class MetricError(WarpzoneError, ValueError):
    """A metric's name is not listed, or its value is no number."""


class RunError(WarpzoneError, RuntimeError):
    """A run directory is missing, in use, or not fit for what was asked."""


class CheckpointError(RunError):
    """A checkpoint is damaged, cannot be written, or holds what it must not."""


class RunCompleteError(RunError):
    """A run has nothing left to train."""


class ResumeError(RunError):
    """A run cannot be resumed as asked; the text says what does not match."""


class SolutionError(WarpzoneError, ValueError):
    """A way through a level is damaged, for another game, or does not lead through."""


class ScoreboardError(WarpzoneError, ValueError):
    """A scoreboard or a campaign is missing, damaged, or not what was asked for."""


class VideoError(WarpzoneError, RuntimeError):
    """A video or picture cannot be written."""


class WindowError(WarpzoneError, RuntimeError):
    """No window can be opened here."""


class LevelWarning(UserWarning):
    """A machine began another level than the one that was asked for."""


class UnknownRomWarning(UserWarning):
    """A game image has the game's shape but is none of the known dumps."""


class ServerError(WarpzoneError, RuntimeError):
    """The dashboard cannot be served as asked."""
