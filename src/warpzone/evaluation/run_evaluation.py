"""Evaluates a run's policy and writes the results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from warpzone.errors import ConfigError
from warpzone.evaluation.evaluation import envs_for, evaluate
from warpzone.evaluation.game_evaluation import GAME, evaluate_game
from warpzone.evaluation.game_results import game_table
from warpzone.evaluation.level_policies import load_level_policies
from warpzone.evaluation.policy_file import SUFFIX, read_policy_facts
from warpzone.evaluation.policy_folder import find_policies, is_policy_folder
from warpzone.evaluation.total_progress import OnProgress, TotalProgress
from warpzone.evaluation.trained import TrainedPolicy, checkpoint_of, load_policy
from warpzone.evaluation.wilson import wilson
from warpzone.runs.directory import run_of
from warpzone.runs.levels import held_out_levels, named_levels, trained_levels
from warpzone.system.atomic_file import check_writable, write_text_atomically
from warpzone.system.os_errors import describe_os_error


def evaluate_run(
    target: Path,
    *,
    level: str | None,
    episodes: int,
    seed: int,
    greedy: bool,
    eval_temperature: float | None = None,
    rom: Path | None = None,
    output: Path | None = None,
    warps: bool = False,
    report: Callable[[str], None] | None = None,
    progress: OnProgress | None = None,
    **env_options: Any,
) -> tuple[dict[str, Any], Path]:
    """Plays episodes of each level with a run's policy, or with those of a folder.

    Before anything is played it checks that the results can be written.

    Args:
        target: A run, a checkpoint, a policy file, or a folder of those.
        level: Levels to play; by default those that it was trained on, and those held out. 'game'
            plays whole games.
        episodes: Episodes per level.
        seed: Seed of the first episode.
        greedy: Always take the most likely action.
        eval_temperature: Divides the logits before sampling; by default as each policy says.
        rom: ROM to play instead of the one that each policy was trained with.
        output: Where the results will be written, without a suffix; by default beside the policy.
        warps: Allow warp pipes in whole games.
        report: Called with one line per level as soon as it has been played.
        progress: Called after each step.
        env_options: Options of the environment.

    Returns:
        Results as plain data, and the name, without a suffix, under which to write them.

    Raises:
        ConfigError: An option is wrong, or the results could not be written.
    """
    if episodes < 1:
        raise ConfigError(f"episodes is {episodes}; it must be at least 1")
    if eval_temperature is not None and not eval_temperature > 0:
        raise ConfigError(f"eval_temperature is {eval_temperature}; it must be above 0")
    source, name = _names(target)
    name = output or name
    _check_files(name)
    facts = {
        **source,
        "greedy": greedy,
        "eval_temperature": eval_temperature,
        "seed": seed,
        **env_options,
    }
    if level == GAME:
        played_games = evaluate_game(
            load_level_policies(target, rom),
            games=episodes,
            seed=seed,
            greedy=greedy,
            eval_temperature=eval_temperature,
            warps=warps,
            progress=partial(progress, GAME) if progress is not None else None,
            **env_options,
        )
        return {**facts, "game": played_games.summary(), "levels": []}, name
    if warps:
        raise ConfigError("warps concerns whole games only; add --level game")
    results, held_out = [], []
    tasks = list(_tasks(target, level, rom))
    total = TotalProgress(episodes * sum(len(levels) for _, levels in tasks), progress)
    for load, levels in tasks:
        trained = load()
        held_out += held_out_levels(trained.config.env)
        for played in levels:
            result = evaluate(
                trained.player(envs_for(episodes), seed, greedy, eval_temperature),
                played,
                episodes=episodes,
                seed=seed,
                wrap=trained.wrap,
                progress=total.part(played, episodes),
                **(trained.env_options() | env_options),
            )
            results.append(result)
            if report is not None:
                report(f"{played}: {result.clears} of {episodes} episodes clear")
    return {
        **facts,
        "levels": [result.summary() | {"held_out": result.level in held_out} for result in results],
    }, name


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


def _check_files(name: Path) -> None:
    for path in _files(name):
        try:
            check_writable(path)
        except OSError as error:
            raise ConfigError(
                f"the results could not be written: {describe_os_error(error)}"
            ) from error


def _files(name: Path) -> tuple[Path, Path]:
    if not name.name:
        raise ConfigError(f"{str(name)!r} cannot name the results; give a name such as 'results'")
    return name.with_name(f"{name.name}.json"), name.with_name(f"{name.name}.md")


def write_results(results: dict[str, Any], name: Path) -> None:
    """Writes NAME.json and NAME.md."""
    data, page = _files(name)
    write_text_atomically(data, json.dumps(results, indent=2) + "\n")
    write_text_atomically(page, results_table(results))


def results_table(results: dict[str, Any]) -> str:
    """The results as Markdown."""
    choice = "most likely action" if results["greedy"] else "sampled actions"
    if results["eval_temperature"] is not None:
        choice += f" (temperature {results['eval_temperature']:g})"
    lines = [
        f"{results['checkpoint']}, {choice}, sticky actions {results['sticky_prob']} per "
        f"{results['sticky']}, up to {results['noop_max']} no-op frames, seeds from "
        f"{results['seed']}",
        "",
    ]
    if "game" in results:
        return "\n".join([*lines, *game_table(results["game"])]) + "\n"
    held_out = [row for row in results["levels"] if row["held_out"]]
    trained = [row for row in results["levels"] if not row["held_out"]]
    if held_out and trained:
        lines += ["Levels that it was trained on:", "", *_table(trained), ""]
        lines += ["Held-out levels:", "", *_table(held_out)]
    else:
        lines += ["Held-out levels:", ""] if held_out else []
        lines += _table(results["levels"])
    return "\n".join(lines) + "\n"


def _table(rows: list[dict[str, Any]]) -> list[str]:
    """Markdown: one line per level, and one for all of them where there are several."""
    lines = [
        "| level | clear rate | 95 % interval | episodes | levels cleared (mean, max) | deaths "
        "| mean progress | ends |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        ends = ", ".join(f"{end} {count}" for end, count in row["ends"].items())
        lines.append(
            f"| {row['level']} | {row['clear_rate']:.0%} | {row['interval_low']:.0%}-"
            f"{row['interval_high']:.0%} | {row['episodes']} | {row['levels_cleared_mean']:.2f}, "
            f"{row['levels_cleared_max']} | {row['deaths']} | {row['progress_mean']:,.0f} px "
            f"| {ends} |"
        )
    if len(rows) > 1:
        clears = sum(row["clears"] for row in rows)
        episodes = sum(row["episodes"] for row in rows)
        low, high = wilson(clears, episodes)
        lines.append(
            f"| all {len(rows)} | {clears / episodes:.0%} | {low:.0%}-{high:.0%} | {episodes} "
            "| | | | |"
        )
    return lines
