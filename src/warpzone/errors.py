"""Errors that warpzone raises on purpose; each message says what is wrong and what to do."""


class WarpzoneError(Exception):
    """Base class of errors a user can fix; the command line prints them without a traceback."""


class MissingExtraError(WarpzoneError, ImportError):
    """An optional dependency is not installed; the message says which extra installs it."""


class RomError(WarpzoneError, ValueError):
    """A ROM is missing, damaged, or not Super Mario Bros."""


class CartridgeError(RomError):
    """The console cannot run the cartridge in a ROM."""


class ConfigError(WarpzoneError, ValueError):
    """A parameter, an action or another value is invalid."""


class PluginError(ConfigError):
    """A plug-in cannot be imported, or a name that it should register is missing or taken."""


class StateError(WarpzoneError, ValueError):
    """A save state is truncated, corrupted, or belongs to something else."""


class EnvError(WarpzoneError, RuntimeError):
    """Environments of a vector environment failed; the message lists each one and its error."""


class InFlightError(WarpzoneError, RuntimeError):
    """An environment was used between `send` and `recv`."""


class ClosedError(WarpzoneError, RuntimeError):
    """A closed environment was used."""


class BackendError(WarpzoneError, RuntimeError):
    """A third-party emulator is missing, has an untested version, or misbehaves."""


class WorkerError(WarpzoneError, RuntimeError):
    """A worker process failed; the message names it, its task and its log file."""


class LockError(WarpzoneError, RuntimeError):
    """A file lock could not be acquired in time."""


class MetricError(WarpzoneError, ValueError):
    """A metric's name is not listed, or its value is not a number."""


class RunError(WarpzoneError, RuntimeError):
    """A run directory is missing, in use, or unsuitable for the requested operation."""


class CheckpointError(RunError):
    """A checkpoint is damaged, cannot be written, or contains disallowed objects."""


class RunCompleteError(RunError):
    """A run has nothing left to train."""


class ResumeError(RunError):
    """A run cannot be resumed as requested; the message says what does not match."""


class SolutionError(WarpzoneError, ValueError):
    """A solution is damaged, belongs to another game, or does not clear its level."""


class ScoreboardError(WarpzoneError, ValueError):
    """A scoreboard or a campaign is missing, damaged, or not the requested one."""


class VideoError(WarpzoneError, RuntimeError):
    """A video or image cannot be written."""


class WindowError(WarpzoneError, RuntimeError):
    """A window cannot be opened on this machine."""


class LevelWarning(UserWarning):
    """An environment started a different level from the one requested."""


class UnknownRomWarning(UserWarning):
    """A ROM has the right layout but matches none of the known dumps."""


class ServerError(WarpzoneError, RuntimeError):
    """The dashboard cannot be served as requested."""


class SweepError(WarpzoneError, RuntimeError):
    """A sweep is missing, damaged, in use, or cannot be run as requested."""


class ClusterError(WarpzoneError, RuntimeError):
    """A cluster cannot be reached, or its actors fail."""
