"""`warpzone solve`: finds ways through levels, and proves them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

if TYPE_CHECKING:
    from warpzone.search.jobs import Job
    from warpzone.search.solution import Solution
    from warpzone.search.solve import SearchOptions, SearchResult

_EXIT_NOT_ALL = 1


@dataclass(frozen=True)
class Solve:
    """Find inputs that clear levels, by search with save states, and prove them by replay.

    Nothing is known of any level: the search remembers the places it has seen, goes back to one,
    plays at random from there, and keeps what is new or quicker. A solution counts only if a
    replay from power-on ends in the next level (8-4: with the princess). Each is saved as a small
    text file, LEVEL.solution. The same seed finds the same solution for any number of threads and
    jobs, unless time ends the search (--seconds, --improve).

    For example:
      warpzone solve --level 8-4
      warpzone solve --level all --jobs 2 -o solutions/
      warpzone solve --level 1-1,1-2 --seeds 4 --improve 20 -o solutions/
      warpzone solve --level 4-2 --allow-warps --frame-skip 1 --actions any
      warpzone solve --verify solutions/
    """

    level: str = "1-1"
    """A level, several with commas between them, or 'all'."""
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="FOLDER")] = Path("solutions")
    """Where to save the ways. A better one that is already there stays (fewer area changes, then
    fewer frames), unless --overwrite is given."""
    verify: Annotated[Path | None, tyro.conf.arg(metavar="PATH")] = None
    """Search nothing; replay this way, or all ways of this folder."""
    seed: int = 0
    """Of the search."""
    seeds: int = 1
    """Search so many times a level, with --seed and the numbers after it; the best is saved."""
    improve: Annotated[float, tyro.conf.arg(metavar="SECONDS")] = 0.0
    """Look for shorter ways so long after the first is found."""
    frame_skip: int = 4
    """Inputs change only every so many frames, so that an agent with this frame skip can play the
    way."""
    actions: str = "complex"
    """What may be pressed: right-only, simple, complex or extended, or 'any' for every sensible
    combination."""
    allow_warps: bool = False
    """Let a warp to another world count as a clear."""
    seconds: float = 600.0
    """Give up on a level after so long."""
    frames: int | None = None
    """End a search after so many emulated frames, found or not; unlike time, the same anywhere."""
    jobs: int = 1
    """Levels searched at once."""
    threads: int = 1
    """Threads for each search; for a single level."""
    memory: Annotated[int, tyro.conf.arg(metavar="MB")] = 256
    """The most that the save states of one search may take; the least promising are forgotten."""
    overwrite: bool = False
    """Replace ways that are better than what is found."""
    game: Literal["smb", "lost-levels"] = "smb"
    """The game to play."""
    rom: Path | None = None
    """The game's image; by default WARPZONE_ROM, or the installed one."""

    def run(self) -> int:
        """Explores, or verifies."""
        if self.verify is not None:
            return self._verify(self.verify)
        return self._explore()

    def _verify(self, path: Path) -> int:
        from warpzone.errors import SolutionError
        from warpzone.search.replay import verify
        from warpzone.search.solution import find_solutions, read_solution

        paths = find_solutions(path)
        cleared = 0
        for one in paths:
            try:
                solution = read_solution(one)
                verify(solution, self.rom)
            except SolutionError as error:
                print(f"{one}: FAILED, {error}")
            else:
                cleared += 1
                print(f"{one}: {_told(solution)}")
        print(f"{cleared} of {len(paths)} clear")
        return 0 if cleared == len(paths) else _EXIT_NOT_ALL

    def _explore(self) -> int:
        from warpzone.envs.setup import expand_levels
        from warpzone.errors import ConfigError
        from warpzone.search.display import SearchDisplay
        from warpzone.search.jobs import Job, solve_many

        for name, number in (("jobs", self.jobs), ("seeds", self.seeds)):
            if number < 1:
                raise ConfigError(f"--{name} is {number}; it must be at least 1")
        levels = list(dict.fromkeys(expand_levels(self.level, self.game)))
        jobs = [Job(level, self.seed + i) for level in levels for i in range(self.seeds)]
        found: set[str] = set()
        with SearchDisplay(len(jobs)) as display:
            searches = solve_many(
                jobs,
                self._options(),
                self.jobs,
                game=self.game,
                rom=self.rom,
                on_progress=display.update,
            )
            for job, result in searches:
                display.finish(job)
                print(self._settle(job, result), flush=True)
                if result.solution is not None:
                    found.add(job.level)
        print(f"{len(found)} of {len(levels)} clear")
        return 0 if len(found) == len(levels) else _EXIT_NOT_ALL

    def _options(self) -> SearchOptions:
        from warpzone.search.solve import SearchOptions

        return SearchOptions(
            frame_skip=self.frame_skip,
            actions=None if self.actions == "any" else self.actions,
            allow_warps=self.allow_warps,
            seconds=self.seconds,
            frames=self.frames,
            improve=self.improve,
            threads=self.threads,
            memory=self.memory,
        )

    def _settle(self, job: Job, result: SearchResult) -> str:
        """Saves what was found and returns a line about it."""
        from warpzone.search.replay import verify
        from warpzone.search.solution import write_solution

        now = result.progress
        effort = f"{now.seconds:.1f} s, {now.frames:,} frames searched"
        if now.forgotten:
            effort += f", {now.forgotten:,} cells forgotten for want of memory"
        title = f"{job.level} seed {job.seed}"
        if result.solution is None:
            return f"{title}: no way found ({effort}); try another --seed or more --seconds"
        verify(result.solution, self.rom)
        path = self.output / f"{job.level}.solution"
        best = None if self.overwrite else self._kept(path)
        if best is not None and best.rank <= result.solution.rank:
            return f"{title}: {_told(result.solution)} ({effort}); kept {path} ({_told(best)})"
        write_solution(path, result.solution)
        return f"{title}: {_told(result.solution)} ({effort}), saved as {path}"

    def _kept(self, path: Path) -> Solution | None:
        """A way that is already there and comparable, if it can be trusted."""
        from warpzone.errors import SolutionError
        from warpzone.search.replay import verify
        from warpzone.search.solution import read_solution

        if not path.exists():
            return None
        try:
            solution = read_solution(path)
            verify(solution, self.rom)
        except SolutionError:
            return None
        return solution if solution.frame_skip == self.frame_skip else None


def _told(solution: Solution) -> str:
    from warpzone.search.solution import PRINCESS

    end = "the princess" if solution.ends == PRINCESS else solution.ends
    plural = "" if solution.area_changes == 1 else "s"
    areas = f", {solution.area_changes} area change{plural}" if solution.area_changes else ""
    return f"clears {solution.level} in {solution.frames:,} frames, on to {end}{areas}"
