"""`warpzone solve`: finds inputs that clear levels, and verifies them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warpzone.config.environment import Game
from warpzone.config.option import option
from warpzone.config.run import LARGEST_SEED

if TYPE_CHECKING:
    from warpzone.search.jobs import Job
    from warpzone.search.solution import Solution
    from warpzone.search.solve import SearchOptions, SearchResult

_EXIT_NOT_ALL = 1


@dataclass(frozen=True)
class Solve:
    """Find inputs that clear levels, by search with save states, and verify them by replay.

    The search has no knowledge of the levels: it remembers the places it has seen, returns to one,
    plays at random from there, and keeps what is new or faster. A solution counts only if a replay
    from power-on ends in the next level (8-4: with the princess). Each solution is saved as a small
    text file, LEVEL.solution. The same seed finds the same solution with any number of threads and
    jobs, unless a time limit (--seconds, --improve) ends the search.

    Examples:
      warpzone solve --level 8-4
      warpzone solve --level all --jobs 2 -o solutions/
      warpzone solve --level 1-1,1-2 --seeds 4 --improve 20 -o solutions/
      warpzone solve --level 4-2 --allow-warps --frame-skip 1 --actions any
      warpzone solve --verify solutions/
    """

    level: str = option("1-1", "Level, several separated by commas, or 'all'.", metavar="LEVEL")
    output: Path = option(
        Path("solutions"),
        "Folder to save solutions in. An existing solution that is better (fewer area changes, "
        "then fewer frames) is kept unless --overwrite is given.",
        short="-o",
        metavar="FOLDER",
    )
    verify: Path | None = option(
        None,
        "Instead of searching, replay this solution, or all solutions in this folder.",
        metavar="PATH",
    )
    seed: int = option(
        0, "Random seed of the search.", at_least=0, at_most=LARGEST_SEED, metavar="SEED"
    )
    seeds: int = option(
        1,
        "Number of searches per level, with consecutive seeds; the best solution is saved.",
        at_least=1,
        at_most=10_000,
        metavar="N",
    )
    improve: float = option(
        0.0,
        "Seconds to search for shorter solutions after the first is found.",
        at_least=0.0,
        at_most=1e6,
        metavar="SECONDS",
    )
    frame_skip: int = option(
        4,
        "Frames between two changes of input, so that an agent with this frame skip can play the "
        "solution.",
        at_least=1,
        at_most=60,
        metavar="FRAMES",
    )
    actions: str = option(
        "complex",
        "Action set: right-only, simple, whole-game, complex, extended, your own list such as "
        "'NOOP,RIGHT+B', or 'any' for every sensible combination.",
        metavar="SET",
    )
    allow_warps: bool = option(False, "Count a warp to another world as a clear.")
    seconds: float = option(
        600.0,
        "Seconds after which the search for a level is abandoned.",
        above=0.0,
        at_most=1e6,
        metavar="SECONDS",
    )
    frames: int | None = option(
        None,
        "Emulated frames after which a search ends, whether or not it found a solution. Unlike "
        "--seconds, it gives the same result on every machine.",
        at_least=1,
        at_most=10**15,
        metavar="FRAMES",
    )
    jobs: int = option(1, "Levels to search in parallel.", at_least=1, at_most=1024, metavar="N")
    threads: int = option(
        1, "Threads per search; for a single level.", at_least=1, at_most=1024, metavar="N"
    )
    memory: int = option(
        256,
        "Memory limit, in megabytes, for the save states of one search; the least promising are "
        "dropped.",
        at_least=1,
        at_most=1_048_576,
        metavar="MB",
    )
    overwrite: bool = option(False, "Replace existing solutions even if they are better.")
    game: Game = option("smb", "Super Mario Bros. or The Lost Levels.")
    rom: Path | None = option(
        None,
        "ROM file to play. By default, WARPZONE_ROM or the installed ROM is used.",
        metavar="FILE",
    )

    def run(self) -> int:
        """Searches for solutions, or verifies existing ones."""
        if self.verify is not None:
            return self._verify(self.verify)
        return self._search()

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
                print(f"{one}: {_summary(solution)}")
        print(f"{cleared} of {len(paths)} clear")
        return 0 if cleared == len(paths) else _EXIT_NOT_ALL

    def _search(self) -> int:
        from warpzone.envs.setup import expand_levels
        from warpzone.search.display import SearchDisplay
        from warpzone.search.jobs import Job, solve_many

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
                print(self._save(job, result), flush=True)
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

    def _save(self, job: Job, result: SearchResult) -> str:
        """Saves a solution, if one was found, and returns a line about the search."""
        from warpzone.search.replay import verify
        from warpzone.search.solution import write_solution

        now = result.progress
        effort = f"{now.seconds:.1f} s, {now.frames:,} frames searched"
        if now.forgotten:
            effort += f", {now.forgotten:,} cells dropped for lack of memory"
        title = f"{job.level} seed {job.seed}"
        if result.solution is None:
            return f"{title}: no solution found ({effort}); try another --seed or more --seconds"
        verify(result.solution, self.rom)
        path = self.output / f"{job.level}.solution"
        best = None if self.overwrite else self._existing(path)
        if best is not None and best.rank <= result.solution.rank:
            return (
                f"{title}: {_summary(result.solution)} ({effort}); kept {path} ({_summary(best)})"
            )
        write_solution(path, result.solution)
        return f"{title}: {_summary(result.solution)} ({effort}), saved as {path}"

    def _existing(self, path: Path) -> Solution | None:
        """Returns the existing solution, if it is comparable and replays."""
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


def _summary(solution: Solution) -> str:
    from warpzone.search.solution import PRINCESS

    end = "reaches the princess" if solution.ends == PRINCESS else f"enters {solution.ends}"
    plural = "" if solution.area_changes == 1 else "s"
    areas = f", {solution.area_changes} area change{plural}" if solution.area_changes else ""
    return f"clears {solution.level} in {solution.frames:,} frames and {end}{areas}"
