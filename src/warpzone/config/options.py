"""The configuration of a run: one tree of frozen dataclasses.

The command line, TOML files, environment variables and the saved `config.toml` are all made from
it; no option is written down twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import tyro

from warpzone.config.aids import (
    AdaptiveOptions,
    ReplayOptions,
    RescueOptions,
    ScriptOptions,
    WatchOptions,
    verify_aids,
    verify_replay,
)
from warpzone.errors import ConfigError


@dataclass(frozen=True)
class EnvOptions:
    """The games that are played."""

    level: str = "1-1"
    """Level ('1-1'), several ('1-1,1-2'), a span ('1-1..1-4'), 'all', or 'random': a new one of all
    levels at every episode."""
    level_order: Literal["cycle", "random", "curriculum"] = "cycle"
    """Several levels: each lane keeps one, draws a new one at every episode, or gets one that is
    being learned or not cleared yet."""
    min_level_share: float = 0.3
    """Least share of the steps that a curriculum gives each level, as a part of an equal share."""
    held_out: str = ""
    """Levels that are never trained on; `warpzone eval` reports them apart."""
    obs: Literal["pixels", "tiles"] = "pixels"
    """Grey pictures, or the tile grid read from RAM."""
    actions: str = "right-only"
    """Action set: right-only, simple, complex or extended."""
    num_envs: int = 64
    """Games played at once."""
    num_threads: int = 0
    """Threads that play them; 0 means one a processor core."""
    frame_skip: int = 4
    """Emulated frames for each step."""
    stack: int = 0
    """Pictures or grids in one observation; 0 means 4 for pixels and 2 for tiles."""
    show_buttons: bool = True
    """Pictures: show the buttons of the last frame in a corner, as a player feels them."""
    hud: Literal["keep", "mask", "crop"] = "crop"
    """What happens to the status bar in pictures."""
    sticky_prob: float = 0.25
    """Chance, at each emulated frame, that the buttons of the frame before stay pressed."""
    noop_max: int = 30
    """Up to so many idle frames at the start of an episode."""
    max_steps: int = 2000
    """Steps after which an episode is cut."""
    stagnation_limit: int = 100
    """Steps without progress after which an episode is cut."""
    backend: Literal["native", "nes-py"] = "native"
    """The machine that the games run on: our own, or nes-py, which needs --vector async or sync."""
    vector: Literal["native", "sync", "async"] = "native"
    """Games on threads of our pool, one after the other, or in processes."""
    strict_stage: bool = False
    """Fail when a machine begins another level than the one asked for; it says so in any case."""

    def policy_env_options(self) -> dict[str, Any]:
        """Keywords that every env must share with the one that a policy was trained on."""
        options: dict[str, Any] = {
            "obs": self.obs,
            "actions": self.actions,
            "frame_skip": self.frame_skip,
            "stack": self.stack,
        }
        if self.obs == "pixels":
            options |= {"hud": self.hud, "show_buttons": self.show_buttons}
        return options


@dataclass(frozen=True)
class WorkerOptions:
    """The processes of --vector async."""

    start_method: Literal["spawn", "forkserver"] = "spawn"
    """How they are started."""
    prewarm: int = 0
    """Games that are built and closed in the parent first."""
    start_delay: float = 0.0
    """Seconds between the starts of two processes."""
    stage_seconds: float = 0.0
    """Limit of the start, of a reset and of a step; 0 means the larger of 180 and 60 a game."""
    replacements: int = 3
    """Processes that may die and be replaced before the run stops."""
    fallback_sync: bool = False
    """Play all games in this process when the others cannot be started."""


@dataclass(frozen=True)
class StartOptions:
    """Where episodes begin while training. Evaluation always begins at the level's start."""

    share: Annotated[float, tyro.conf.arg(name="start-share")] = 0.0
    """Share of the episodes that begin at places which the agent reached before, as long as none
    clears the level; it falls with the clear rate. Most begin where danger is ahead."""
    spacing: Annotated[int, tyro.conf.arg(name="start-spacing")] = 64
    """Pixels between two such places."""
    solutions: Annotated[str, tyro.conf.arg(name="from-solutions", metavar="FOLDER")] = ""
    """Ways through the levels, as `warpzone solve` writes them: progress is measured along them,
    and episodes begin along them."""
    solution_share: Annotated[float, tyro.conf.arg(name="start-solution-share")] = 0.5
    """Of the episodes that begin within a level, the share that does so along its way."""


@dataclass(frozen=True)
class RewardOptions:
    """What is rewarded."""

    distance: float = 0.01
    """For each pixel of progress."""
    clear: float = 1.0
    """For clearing the level."""
    death: float = 1.0
    """Taken away when a life is lost."""
    time: float = 0.003
    """Taken away at every step."""
    score: float = 0.0
    """For each point."""


@dataclass(frozen=True)
class ModelOptions:
    """The network."""

    encoder: Annotated[
        Literal["auto", "space-to-depth", "nature", "impala", "tiles"], tyro.conf.arg(name="model")
    ] = "auto"
    """auto: folded for pixels, tiles for tiles."""
    hidden: int = 256
    """Width of the hidden layer."""
    heads: Literal["linear", "noisy"] = "linear"
    """Last layers; noisy ones explore by weights that are drawn anew for every rollout."""
    eval_temperature: float = 0.5
    """Divides the logits when evaluation and videos sample actions; training samples at 1."""
    memory: Literal["none", "gru", "lstm", "transformer"] = "none"
    """What the network carries from step to step."""
    memory_size: int = 128
    """Width of the memory."""
    memory_window: int = 16
    """Steps that a transformer looks back."""


@dataclass(frozen=True)
class LearnOptions:
    """How a rollout is learned from."""

    algo: Literal["ppo", "vtrace"] = "ppo"
    """PPO, or the V-trace actor-critic (A3C and IMPALA family)."""
    rollout_steps: int = 64
    """Steps of each game between updates."""
    epochs: int = 4
    """Passes over a rollout."""
    minibatch_size: int = 1024
    """Steps in a gradient."""
    grad_accumulation: int = 1
    """Gradients that are gathered before a step of the optimizer."""
    learning_rate: float = 1e-3
    """Of Adam, at the start."""
    optimizer: Literal["adam", "adamw"] = "adam"
    """Which one."""
    lr_schedule: Literal["constant", "linear", "cosine"] = "constant"
    """How the learning rate falls with the steps done."""
    lr_final_factor: float = 0.1
    """Share of the learning rate that is left at the end of the schedule."""
    lr_warmup: float = 0.0
    """Share of the run over which the learning rate rises."""
    lr_success_factor: float = 0.2
    """Share of the learning rate that is left when every episode clears."""
    gamma: float = 0.97
    """Gamma: what a step later is worth."""
    progress_gamma: float = 1.0
    """Gamma of a tile (16 pixels) of progress, besides. Below 1, with a discount near 1, the future
    is counted by ground rather than by time, and waiting costs little."""
    gae_lambda: float = 0.95
    """Lambda."""
    clip_coef: float = 0.2
    """How far PPO lets a probability ratio move."""
    vf_coef: float = 0.5
    """Weight of the critic's loss."""
    ent_coef: float = 0.01
    """Weight of the entropy while nothing clears."""
    ent_coef_at_success: float = 0.001
    """Weight of the entropy when every episode clears."""
    ent_coef_fade: float = 1.0
    """Power of the clear rate by which that weight fades; below 1 it does so sooner."""
    ent_coef_schedule: Literal["constant", "linear", "cosine"] = "constant"
    """How that weight falls with the steps done, besides; at the end of the run nothing is left."""
    ema_decay: float = 0.95
    """Share of the averaged weights that an update leaves; they are what is evaluated and filmed. 0
    means the weights as they are."""
    max_grad_norm: float = 0.5
    """Gradients are cut to this norm."""
    grad_norm_limit: float = 1000.0
    """Gradients of a larger norm are skipped, as are those that are no numbers."""
    max_skipped_updates: int = 20
    """So many may be skipped one after another; then the run stops with a snapshot."""
    target_kl: float = 0.0
    """Leave the passes over a rollout once the policy has moved so far; 0 means never."""


@dataclass(frozen=True)
class RunOptions:
    """The run itself."""

    steps: int = 1_000_000
    """Environment steps in all."""
    seed: int = 0
    """Of everything that is random."""
    runs: str = "runs"
    """Folder of runs."""
    name: str = ""
    """Folder of this run; by default from the level."""
    device: str = "auto"
    """auto, cpu, cuda, or mps."""
    precision: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """auto: bfloat16 where the machine computes it quickly."""
    torch_threads: int = 0
    """Threads of the network's arithmetic; 0 means one a processor core."""
    compile: bool = False
    """Compile the network with torch.compile."""
    overlap: bool = False
    """Collect the next rollout while learning from the present one."""
    auto_mem: bool = False
    """Make a new run smaller, step by step, when memory runs out at its start."""
    log_every: int = 5
    """Updates between two lines of metrics."""
    checkpoint_minutes: float = 2.0
    """Minutes between two checkpoints."""
    keep_checkpoints: int = 3
    """Rolling checkpoints that are kept besides latest and best."""
    video_minutes: float = 10.0
    """Minutes between two films of the policy, made in the background; 0 means none."""
    stop_at_clear_rate: float = 0.0
    """End early once so many of the last 100 episodes cleared; 0 means never."""


@dataclass(frozen=True)
class TrainConfig:
    """Everything about a run."""

    env: EnvOptions = field(default_factory=EnvOptions)
    workers: WorkerOptions = field(default_factory=WorkerOptions)
    starts: StartOptions = field(default_factory=StartOptions)
    reward: RewardOptions = field(default_factory=RewardOptions)
    model: ModelOptions = field(default_factory=ModelOptions)
    learn: LearnOptions = field(default_factory=LearnOptions)
    replay: ReplayOptions = field(default_factory=ReplayOptions)
    script: ScriptOptions = field(default_factory=ScriptOptions)
    rescue: RescueOptions = field(default_factory=RescueOptions)
    adaptive: AdaptiveOptions = field(default_factory=AdaptiveOptions)
    watch: WatchOptions = field(default_factory=WatchOptions)
    run: RunOptions = field(default_factory=RunOptions)

    def _verify_without_states(self) -> None:
        """Checks options that only games of the pool have."""
        wants = {
            f"starts.share is {self.starts.share:g}": self.starts.share > 0,
            f"starts.solutions is {self.starts.solutions!r}": self.starts.solutions != "",
            "env.level_order is 'curriculum'": self.env.level_order == "curriculum",
        }
        for name, wanted in wants.items():
            if wanted:
                raise ConfigError(
                    f"{name}, which needs --vector native, not {self.env.vector!r}; leave it out"
                )

    def verify(self) -> None:
        """Checks what types alone do not.

        Raises:
            ConfigError: Naming the option, its value and what is allowed.
        """
        positive = {
            "env.num_envs": self.env.num_envs,
            "starts.spacing": self.starts.spacing,
            "learn.rollout_steps": self.learn.rollout_steps,
            "learn.epochs": self.learn.epochs,
            "learn.minibatch_size": self.learn.minibatch_size,
            "learn.grad_accumulation": self.learn.grad_accumulation,
            "learn.learning_rate": self.learn.learning_rate,
            "learn.ent_coef_fade": self.learn.ent_coef_fade,
            "learn.max_grad_norm": self.learn.max_grad_norm,
            "learn.grad_norm_limit": self.learn.grad_norm_limit,
            "model.hidden": self.model.hidden,
            "model.eval_temperature": self.model.eval_temperature,
            "model.memory_size": self.model.memory_size,
            "model.memory_window": self.model.memory_window,
            "run.steps": self.run.steps,
            "run.log_every": self.run.log_every,
            "run.checkpoint_minutes": self.run.checkpoint_minutes,
            "run.keep_checkpoints": self.run.keep_checkpoints,
        }
        for name, value in positive.items():
            if not value > 0:
                raise ConfigError(f"{name} is {value}; it must be above 0")
        shares = {
            "learn.gamma": self.learn.gamma,
            "learn.progress_gamma": self.learn.progress_gamma,
            "learn.gae_lambda": self.learn.gae_lambda,
            "learn.ema_decay": self.learn.ema_decay,
            "learn.lr_final_factor": self.learn.lr_final_factor,
            "learn.lr_success_factor": self.learn.lr_success_factor,
            "starts.share": self.starts.share,
            "starts.solution_share": self.starts.solution_share,
            "env.min_level_share": self.env.min_level_share,
            "run.stop_at_clear_rate": self.run.stop_at_clear_rate,
        }
        for name, value in shares.items():
            if not 0.0 <= value <= 1.0:
                raise ConfigError(f"{name} is {value}; it must be from 0 to 1")
        not_negative = {
            "learn.max_skipped_updates": self.learn.max_skipped_updates,
            "run.video_minutes": self.run.video_minutes,
            "workers.prewarm": self.workers.prewarm,
            "workers.start_delay": self.workers.start_delay,
            "workers.stage_seconds": self.workers.stage_seconds,
            "workers.replacements": self.workers.replacements,
        }
        for name, value in not_negative.items():
            if not value >= 0:
                raise ConfigError(f"{name} is {value}; it must be 0 or more")
        batch = self.env.num_envs * self.learn.rollout_steps
        if self.learn.minibatch_size > batch:
            raise ConfigError(
                f"learn.minibatch_size is {self.learn.minibatch_size}, but a rollout has only "
                f"{self.env.num_envs} games x {self.learn.rollout_steps} steps = {batch}"
            )
        verify_replay(self.replay, self.model.memory, batch)
        verify_aids(self.script, self.rescue, self.adaptive, self.watch)
        if self.env.vector == "native" and self.env.backend != "native":
            raise ConfigError(
                f"env.vector 'native' is the pool of our own core and runs no {self.env.backend}; "
                "give --vector async, or --vector sync"
            )
        if self.env.vector != "native":
            self._verify_without_states()
        if self.model.encoder == "tiles" and self.env.obs != "tiles":
            raise ConfigError("model.encoder is 'tiles', which needs env.obs 'tiles'")
        if self.env.obs == "tiles" and self.model.encoder not in ("auto", "tiles"):
            raise ConfigError(
                f"model.encoder is {self.model.encoder!r}, which needs env.obs 'pixels'"
            )
