"""Python API besides the environments: training, evaluation and search as functions.

Heavy modules are imported inside the functions, so that `import warpzone` is fast and works without
PyTorch.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from warpzone.config import explicit_options, from_keywords, overlaid, resolve
from warpzone.config.resolve import DEFAULT_PRESET
from warpzone.errors import ConfigError
from warpzone.registry import Wrap, name_of_wrapper
from warpzone.system.extras import naming_extras
from warpzone.system.openmp import is_spinning

if TYPE_CHECKING:
    from warpzone.envs.actions import Actions
    from warpzone.evaluation.acting import LoadedPolicy
    from warpzone.evaluation.evaluation import Evaluation
    from warpzone.runs.listing import RunSummary
    from warpzone.search.solve import SearchProgress, SearchResult

Display = Literal["auto", "rich", "plain", "quiet"]
Callback = Callable[[Mapping[str, float]], bool | None]
"""Called with the metrics of each update, by name; returning False stops the run."""


def train(
    level: str | None = None,
    *,
    obs: Literal["pixels", "rgb", "tiles"] | None = None,
    actions: str | None = None,
    steps: int | None = None,
    encoder: str | None = None,
    reward: str | None = None,
    algo: str | None = None,
    wrap: str | Wrap | None = None,
    num_envs: int | None = None,
    seed: int | None = None,
    preset: str | None = None,
    file: str | Path | None = None,
    resume: str | Path | None = None,
    resume_with_changes: bool = False,
    callback: Callback | None = None,
    display: Display = "auto",
    **options: Any,
) -> RunSummary:
    """Trains a policy, or resumes a run, as `warpzone train` does.

    Ctrl-C saves a checkpoint and returns. Options default to the values of the preset (see
    `warpzone train --help-all` or docs/options.md). Environment variables such as
    `WARPZONE_TRAIN_ENV_NUM_ENVS` also apply.

    Args:
        level: Levels to train on, such as '1-1', '1-1,1-2', '1-1..1-4' or 'random'.
        obs: 'pixels', 'rgb' or 'tiles'.
        actions: Action set: 'right-only', 'simple', 'whole-game', 'complex', 'extended', or your
            own list.
        steps: Environment steps of the run, summed over all environments.
        encoder: Built-in encoder, or a name from `register_encoder`.
        reward: 'shaped', 'classic', or a name from `register_reward`.
        algo: 'ppo', 'appo', 'vtrace', or a name from `register_algorithm`.
        wrap: Gymnasium vector wrapper of the environments: a name from
            `register_wrapper`, or a function or class, which is registered under its own name.
        num_envs: Number of parallel environments.
        seed: Random seed.
        preset: Preset to start from.
        file: TOML file of options.
        resume: Run or checkpoint to resume exactly where it left off.
        resume_with_changes: Resume even if options differ from those of the run.
        callback: Called after every update with its metrics, such as `run/steps`,
            `rollout/clear_rate` and `loss/policy`; returning False stops the run.
        display: How progress is shown; 'quiet' shows only messages.
        options: Any other option of `warpzone train`, with underscores: `learning_rate=3e-4`,
            `reward_distance=0.02`, `name="first"`.

    Returns:
        The run: `path`, `steps`, `updates`, `clear_rate` of its last 100 episodes, `state`.

    Raises:
        ConfigError: An option is unknown or invalid; the message names it.
        MissingExtraError: PyTorch is not installed; the message says how to install it.
        RunCompleteError: A resumed run has nothing left to train.
    """
    spelled_out = {
        "level": level,
        "obs": obs,
        "actions": actions,
        "steps": steps,
        "encoder": encoder,
        "reward": reward,
        "algo": algo,
        "wrap": name_of_wrapper(wrap) if callable(wrap) else wrap,
        "num_envs": num_envs,
        "seed": seed,
    }
    given = {name: value for name, value in spelled_out.items() if value is not None}
    toml = None if file is None else Path(file)
    explicit = explicit_options(toml, from_keywords(given | options))
    _warn_of_spinning()

    with naming_extras():
        from warpzone.runs.listing import summarize_run
        from warpzone.runs.saved_config import saved_config
        from warpzone.training import session

    if resume is None:
        config = resolve(explicit, preset or DEFAULT_PRESET)
        run, _ = session.start(config, display, on_update=callback)
    else:
        if preset is not None:
            raise ConfigError("preset is for new runs; a resumed run keeps its configuration")
        target = Path(resume)
        config = overlaid(saved_config(target), explicit)
        run, _ = session.resume(target, config, resume_with_changes, display, on_update=callback)
    return summarize_run(run.path)


def load_policy(
    path: str | Path,
    *,
    level: str | None = None,
    seed: int = 0,
    greedy: bool = False,
    rom: str | Path | None = None,
) -> LoadedPolicy:
    """Loads a trained policy. Loading never executes code from the file.

    Args:
        path: Run (its best checkpoint, or else the latest) or its name below `runs`, checkpoint,
            policy file that `warpzone export` wrote, folder of policy files, or a level such as
            '1-1', for the policy that comes with Warpzone.
        level: For a folder, the level whose policy is loaded.
        seed: Random seed for sampling actions.
        greedy: Always take the most likely action.
        rom: ROM to play instead of the one that the policy was trained with.

    Returns:
        The policy: `act(obs)` returns actions, and `env_options` are the keywords of `make_vec` for
        matching environments.

    Raises:
        CheckpointError: The policy is missing or damaged.
        MissingExtraError: PyTorch is not installed; the message says how to install it.
        PluginError: The policy needs a plug-in that is not imported; the message names it.
    """
    with naming_extras():
        from warpzone.evaluation import trained
        from warpzone.evaluation.acting import LoadedPolicy
        from warpzone.evaluation.targets import find_target

    image = None if rom is None else Path(rom)
    file = find_target(Path(path)).path
    return LoadedPolicy(trained.load_policy(file, level, image), seed=seed, greedy=greedy)


def evaluate(
    policy: LoadedPolicy | str | Path,
    level: str | None = None,
    *,
    episodes: int = 100,
    seed: int = 10_000,
    greedy: bool = False,
    eval_temperature: float | None = None,
    sticky_prob: float = 0.25,
    noop_max: int = 30,
    **env_options: Any,
) -> Evaluation:
    """Plays episodes with a policy and reports how often it clears the level.

    Sticky actions and no-op frames at the start make every episode different, so that a memorized
    sequence of inputs does not work.

    Args:
        policy: Policy from `load_policy`, or a path that it accepts.
        level: Level to play; defaults to the level that the policy was trained on.
        episodes: Number of episodes.
        seed: Seed of the first episode; the others follow.
        greedy: Always take the most likely action.
        eval_temperature: Divides the logits before an action is sampled; defaults to the run's own.
        sticky_prob: Probability, at each frame, that the buttons of the previous frame stay
            pressed.
        noop_max: Maximum number of no-op frames at the start.
        env_options: Other parameters of the environment, such as `max_steps`.

    Returns:
        The result, which prints as one line: `clear_rate`, `clears`, `interval`, `episodes`.

    Raises:
        ConfigError: An option is invalid, or the policy has several levels and none is given.
    """
    with naming_extras():
        from warpzone.evaluation import evaluation

    if episodes < 1:
        raise ConfigError(f"episodes is {episodes}; it must be at least 1")
    if eval_temperature is not None and not eval_temperature > 0:
        raise ConfigError(f"eval_temperature is {eval_temperature}; it must be above 0")
    if isinstance(policy, str | Path):
        policy = load_policy(policy, level=level)
    trained = policy.trained
    return evaluation.evaluate(
        trained.player(evaluation.envs_for(episodes), seed, greedy, eval_temperature),
        level or _only_level(policy),
        episodes=episodes,
        seed=seed,
        wrap=trained.wrap,
        **(trained.env_options() | env_options),
        sticky_prob=sticky_prob,
        noop_max=noop_max,
    )


def solve(
    level: str,
    *,
    seed: int = 0,
    seconds: float = 600.0,
    frames: int | None = None,
    improve: float = 0.0,
    frame_skip: int = 4,
    actions: Actions | None = "complex",
    allow_warps: bool = False,
    threads: int = 1,
    memory: int = 256,
    game: Literal["smb", "lost-levels"] = "smb",
    rom: str | Path | None = None,
    on_progress: Callable[[SearchProgress], None] | None = None,
) -> SearchResult:
    """Searches for inputs that clear a level, and verifies them by replay from power-on.

    The same options and seed find the same solution with any number of threads, unless a time limit
    ends the search.

    Args:
        level: Level to solve, such as '8-4'.
        seed: Random seed.
        seconds: Time limit for a first solution.
        frames: Limit on emulated frames; unlike `seconds`, it is reproducible.
        improve: Seconds to search for shorter solutions after the first.
        frame_skip: Frames per input, like the frame skip of an agent.
        actions: Name of an action set, or a list that contains NOOP; None means every sensible
            combination.
        allow_warps: Whether a warp to another world counts as a solution.
        threads: Number of threads.
        memory: Memory limit for save states, in megabytes.
        game: 'smb' or 'lost-levels'.
        rom: Path of the ROM; defaults to `WARPZONE_ROM` or the installed one.
        on_progress: Called about ten times per second.

    Returns:
        The result: `solution`, which is None if none was found, and `progress`.

    Raises:
        ConfigError: An option or the level is invalid.
    """
    from warpzone.search.solve import SearchOptions
    from warpzone.search.solve import solve as search

    options = SearchOptions(
        frame_skip=frame_skip,
        actions=actions,
        allow_warps=allow_warps,
        seconds=seconds,
        frames=frames,
        improve=improve,
        threads=threads,
        memory=memory,
    )
    return search(level, seed, options, game=game, rom=rom, on_progress=on_progress)


def _only_level(policy: LoadedPolicy) -> str:
    levels = policy.levels
    if len(levels) != 1:
        raise ConfigError(
            f"the policy was trained on {', '.join(levels)}; specify the level to evaluate it on"
        )
    return levels[0]


def _warn_of_spinning() -> None:
    if is_spinning():
        warnings.warn(
            "PyTorch was imported before warpzone, so its threads spin while they wait, which "
            "slows training down when other programs are busy; import warpzone first, or set "
            "OMP_WAIT_POLICY=PASSIVE",
            stacklevel=3,
        )
