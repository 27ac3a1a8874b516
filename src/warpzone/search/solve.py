"""Searching for a solution of one level."""

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

# Long enough for polling to cost nothing, short enough for Ctrl-C to take effect at once.
_SLICE_SECONDS = 0.1
_NO_FRAME_LIMIT = 2**62


@dataclass(frozen=True)
class SearchOptions:
    """Options of a search.

    The same options and seed give the same solution for any number of threads, unless a time limit
    ends the search: `seconds` before the first solution, or `improve` after it. `frames` is a
    deterministic limit.

    Attributes:
        frame_skip: Frames per input, like the frame skip of an agent.
        actions: Button combinations to use: the name of an action set or a list that contains
            NOOP. None means every sensible combination.
        allow_warps: Whether a warp to another world counts as a solution.
        seconds: Time limit for finding a first solution.
        frames: Limit on emulated frames, or None.
        improve: Seconds to spend on finding shorter solutions after the first.
        threads: Number of threads of this search.
        memory: Memory limit of the save-state archive in megabytes. A full archive evicts its
            least promising states.
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
        """Checks the values that the native code does not check."""
        for name, least in (("seconds", 0), ("improve", 0), ("frames", 1), ("memory", 1)):
            value = getattr(self, name)
            if value is not None and not value >= least:
                raise ConfigError(f"{name} is {value}; it must be at least {least}")

    def buttons(self) -> list[int]:
        """Returns the allowed controller bytes; empty means every sensible combination."""
        if self.actions is None:
            return []
        buttons = resolve_actions(self.actions)
        if 0 not in buttons:
            raise ConfigError(
                "actions must include NOOP: the search presses no button while Mario is not under"
                " control"
            )
        return buttons


@dataclass(frozen=True)
class SearchProgress:
    """Progress of a search.

    Attributes:
        seconds: Elapsed time.
        frames: Emulated frames.
        rounds: Rounds of selecting, exploring and merging.
        cells: Cells in the archive.
        forgotten: Cells evicted because the archive was full.
        memory: Memory used by the archive, in bytes.
        memory_limit: Memory limit of the archive, in bytes.
        refuted: Candidate solutions that a replay did not confirm.
        solution_frames: Length of the best solution so far, or None.
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
    """The outcome of a search: a verified solution or None, and the effort spent."""

    solution: Solution | None
    progress: SearchProgress

    def __str__(self) -> str:
        """One line for people."""
        effort = f"{self.progress.frames:,} frames searched in {self.progress.seconds:.1f} s"
        if self.solution is None:
            return f"no solution found ({effort})"
        return f"{self.solution.level}: a solution of {self.solution.frames:,} frames ({effort})"


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
    """Searches for a solution of a level and verifies it with a replay from power-on.

    Args:
        level: The level, such as '8-4'.
        seed: Random seed.
        options: Search options.
        game: 'smb' or 'lost-levels'.
        rom: Path to the ROM; by default `WARPZONE_ROM`, or the installed one.
        on_progress: Called about ten times per second, in the caller's thread.
        stop: Ends the search early once set.

    Raises:
        ConfigError: If an option or the level is invalid.
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
            f"a replay did not confirm the solution of {level}; please report this bug"
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
        progress = SearchProgress(seconds=time.monotonic() - began, **search.progress())
        if on_progress is not None:
            on_progress(progress)
        if found_at is None and progress.solution_frames is not None:
            found_at = time.monotonic()
            done = options.improve == 0
            left = options.improve
        if done or left <= 0 or (stop is not None and stop.is_set()):
            return progress
