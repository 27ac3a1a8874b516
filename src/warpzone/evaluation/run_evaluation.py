"""Evaluates the policies of a run, a file or a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from warpzone.errors import ConfigError
from warpzone.evaluation.evaluation import envs_for, evaluate
from warpzone.evaluation.game_evaluation import GAME, evaluate_game
from warpzone.evaluation.level_policies import load_level_policies
from warpzone.evaluation.policy_file import SUFFIX, read_policy_facts
from warpzone.evaluation.policy_folder import find_policies, is_policy_folder
from warpzone.evaluation.result_files import check_result_files
from warpzone.evaluation.total_progress import OnProgress, TotalProgress
from warpzone.evaluation.trained import TrainedPolicy, checkpoint_of, load_policy
from warpzone.runs.directory import run_of
from warpzone.runs.levels import held_out_levels, named_levels, trained_levels


@dataclass(frozen=True)
class EvaluationOptions:
    """What is played, and how.

    Attributes:
        level: Levels to play; by default those that a policy was trained on, and those held out.
            'game' plays whole games.
        episodes: Episodes per level.
        seed: Seed of the first episode.
        greedy: Always take the most likely action.
        eval_temperature: Divides the logits before sampling; by default as each policy says.
        warps: Allow warp pipes in whole games.
        rom: ROM to play instead of the one that each policy was trained with.
        env: Options of the environment.
    """

    level: str | None
    episodes: int
    seed: int
    greedy: bool = False
    eval_temperature: float | None = None
    warps: bool = False
    rom: Path | None = None
    env: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Checks the values."""
        if self.episodes < 1:
            raise ConfigError(f"episodes is {self.episodes}; it must be at least 1")
        if self.eval_temperature is not None and not self.eval_temperature > 0:
            raise ConfigError(f"eval_temperature is {self.eval_temperature}; it must be above 0")
        if self.warps and self.level != GAME:
            raise ConfigError("warps concerns whole games only; add --level game")


def evaluate_run(
    target: Path,
    options: EvaluationOptions,
    *,
    output: Path | None = None,
    report: Callable[[str], None] | None = None,
    progress: OnProgress | None = None,
) -> tuple[dict[str, Any], Path]:
    """Plays episodes of each level with a run's policy, or with those of a folder.

    Before anything is played it checks that the results can be written.

    Args:
        target: A run, a checkpoint, a policy file, or a folder of those.
        options: What is played, and how.
        output: Where the results will be written, without a suffix; by default beside the policy.
        report: Called with one line per level as soon as it has been played.
        progress: Called after each step.

    Returns:
        Results as plain data, and the name, without a suffix, under which to write them.

    Raises:
        ConfigError: An option is wrong, or the results could not be written.
    """
    source, name = _names(target)
    name = output or name
    check_result_files(name)
    facts = {
        **source,
        "greedy": options.greedy,
        "eval_temperature": options.eval_temperature,
        "seed": options.seed,
        **options.env,
    }
    if options.level == GAME:
        return {**facts, "game": _play_games(target, options, progress), "levels": []}, name
    return {**facts, "levels": _play_levels(target, options, report, progress)}, name


def _play_games(
    target: Path, options: EvaluationOptions, progress: OnProgress | None
) -> dict[str, Any]:
    return evaluate_game(
        load_level_policies(target, options.rom),
        games=options.episodes,
        seed=options.seed,
        greedy=options.greedy,
        eval_temperature=options.eval_temperature,
        warps=options.warps,
        progress=partial(progress, GAME) if progress is not None else None,
        **options.env,
    ).summary()


def _play_levels(
    target: Path,
    options: EvaluationOptions,
    report: Callable[[str], None] | None,
    progress: OnProgress | None,
) -> list[dict[str, Any]]:
    episodes, seed = options.episodes, options.seed
    results, held_out = [], []
    tasks = list(_tasks(target, options.level, options.rom))
    total = TotalProgress(episodes * sum(len(levels) for _, levels in tasks), progress)
    for load, levels in tasks:
        trained = load()
        held_out += held_out_levels(trained.config.env)
        for played in levels:
            result = evaluate(
                trained.player(envs_for(episodes), seed, options.greedy, options.eval_temperature),
                played,
                episodes=episodes,
                seed=seed,
                wrap=trained.wrap,
                progress=total.part(played, episodes),
                **(trained.env_options() | dict(options.env)),
            )
            results.append(result)
            if report is not None:
                report(f"{played}: {result.clears} of {episodes} episodes clear")
    return [result.summary() | {"held_out": result.level in held_out} for result in results]


def _tasks(
    target: Path, level: str | None, rom: Path | None
) -> Iterator[tuple[Callable[[], TrainedPolicy], list[str]]]:
    """A function that loads each policy, and the levels that the policy plays."""
    if is_policy_folder(target):
        if level is not None:
            for name in named_levels(level):
                yield partial(load_policy, target, name, rom), [name]
            return
        for path in find_policies(target):
            yield partial(load_policy, path, rom=rom), read_policy_facts(path).levels
        return
    trained = load_policy(target, rom=rom)
    env = trained.config.env
    own = [*trained_levels(env), *held_out_levels(env)]
    yield lambda: trained, named_levels(level, env.game) if level else own


def _names(target: Path) -> tuple[dict[str, str], Path]:
    """How the results name their source, and the default name to write them under."""
    if is_policy_folder(target):
        return {"run": str(target), "checkpoint": f"policies of {target}"}, target / "evaluation"
    if target.suffix == SUFFIX:
        name = target.with_name(f"{target.stem}-evaluation")
        return {"run": str(target.parent), "checkpoint": target.name}, name
    run = run_of(target).path
    return {"run": str(run), "checkpoint": checkpoint_of(target).name}, run / "evaluation"
