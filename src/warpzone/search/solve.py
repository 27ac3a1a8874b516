"""Looking for a way through one level."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from warpzone import _native
from warpzone.envs.actions import Actions, resolve_actions
from warpzone.errors import ConfigError, SolutionError
from warpzone.rom.image import SMB, identify
from warpzone.rom.locate import load_game
from warpzone.search.replay import RomPath
from warpzone.search.solution import PRINCESS, Solution

# Long enough that asking costs nothing, short enough that Ctrl-C is heard at once.
_SLICE_SECONDS = 0.1
_NO_FRAME_LIMIT = 2**62


@dataclass(frozen=True)
class SearchOptions:
    """How to look for a way.

    The same options give the same way for any number of threads, unless time ends the search:
    `seconds` before a way is found, or `improve` after it. `frames` ends it at the same moment
    always.

    Attributes:
        frame_skip: Inputs change only every so many frames, as an agent's actions do.
        actions: The combinations that may be pressed: a set's name or a list, which must contain
            NOOP; None means every sensible one.
        allow_warps: A warp to another world counts as the end of a way, too.
        seconds: Give up after so long without a way.
        frames: Give up after so many emulated frames, or None.
        improve: Look for shorter ways for so many seconds after the first.
        threads: Threads for this search.
        memory: Megabytes that the archive of save states may take; the least promising ones are
            forgotten when it is full.
    """

    frame_skip: int = 4
    actions: Actions | None = "complex"
    allow_warps: bool = False
    seconds: float = 600.0
    frames: int | None = None
    improve: float = 0.0
    threads: int = 1
    memory: int = 256

    def __post_init__(self) -> None:
        """Checks the numbers that the native part does not."""
        for name, least in (("seconds", 0), ("improve", 0), ("frames", 1), ("memory", 1)):
            value = getattr(self, name)
            if value is not None and not value >= least:
                raise ConfigError(f"{name} is {value}; it must be at least {least}")

    def buttons(self) -> list[int]:
        """The allowed controller bytes; empty means every sensible one."""
        if self.actions is None:
            return []
        buttons = resolve_actions(self.actions)
        if 0 not in buttons:
            raise ConfigError("actions: a search needs NOOP, for moments in which Mario obeys not")
        return buttons


@dataclass(frozen=True)
class SearchProgress:
    """How far a search has come.

    Attributes:
        seconds: Since it began.
        frames: Emulated.
        rounds: Of choosing, exploring and merging.
        cells: In the archive.
        forgotten: Cells that were dropped because the archive was full.
        memory: Bytes that the archive takes.
        memory_limit: Bytes that it may take.
        refuted: Ways that a replay did not confirm.
        solution_frames: Length of the best way so far, or None.
    """

    seconds: float
    frames: int
    rounds: int
    cells: int
    forgotten: int
    memory: int
    memory_limit: int
    refuted: int
    solution_frames: int | None


@dataclass(frozen=True)
class SearchResult:
    """What became of a search: a proved way, or None, and the effort."""

    solution: Solution | None
    progress: SearchProgress


def solve(
    level: str,
    seed: int = 0,
    options: SearchOptions | None = None,
    *,
    game: str = SMB,
    rom: RomPath = None,
    on_progress: Callable[[SearchProgress], None] | None = None,
    stop: threading.Event | None = None,
) -> SearchResult:
    """Looks for a way through a level and proves it by a replay from power-on.

    Args:
        level: Such as '8-4'.
        seed: Of everything random.
        options: How to look.
        game: 'smb' or 'lost-levels'.
        rom: The game's image; by default `WARPZONE_ROM`, or the installed one.
        on_progress: Called some ten times a second, in the thread of the caller.
        stop: Ends the search early once it is set.

    Raises:
        ConfigError: If an option or the level is not allowed.
    """
    options = options or SearchOptions()
    if not 0 <= seed < 2**63:
        raise ConfigError(f"seed is {seed}; it must be from 0 to 2**63 - 1")
    image = load_game(game, rom)
    search = _native.Search(
        image,
        game,
        level,
        frame_skip=options.frame_skip,
        actions=options.buttons(),
        warps=options.allow_warps,
        seed=seed,
        threads=options.threads,
        memory=options.memory,
    )
    progress = _run(search, options, on_progress, stop)
    if search.solution is None:
        return SearchResult(None, progress)
    played = _native.replay(image, game, level, options.frame_skip, search.solution)
    if played.frames == 0:
        raise SolutionError(
            f"the way for {level} was not confirmed by a replay; please report this"
        )
    solution = Solution(
        game=game,
        level=level,
        ends=PRINCESS if played.ending == "princess" else played.end_level,
        rom=identify(image).body_sha1,
        frame_skip=options.frame_skip,
        frames=played.frames,
        area_changes=played.area_changes,
        seed=seed,
        inputs=search.solution,
    )
    return SearchResult(solution, progress)


def _run(
    search: _native.Search,
    options: SearchOptions,
    on_progress: Callable[[SearchProgress], None] | None,
    stop: threading.Event | None,
) -> SearchProgress:
    began = time.monotonic()
    found_at: float | None = None
    while True:
        improving = found_at is not None
        deadline = began + options.seconds if found_at is None else found_at + options.improve
        left = deadline - time.monotonic()
        done = search.run(
            max(0.0, min(_SLICE_SECONDS, left)), options.frames or _NO_FRAME_LIMIT, improving
        )
        told = search.progress()
        progress = SearchProgress(seconds=time.monotonic() - began, **told)
        if on_progress is not None:
            on_progress(progress)
        if found_at is None and progress.solution_frames is not None:
            found_at = time.monotonic()
            done = options.improve == 0
            left = options.improve
        if done or left <= 0 or (stop is not None and stop.is_set()):
            return progress
