"""Options of the environments: levels, observations, actions, emulation, starts and rewards."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from warpzone.config.kinds import Weight
from warpzone.config.option import option, weight

Game = Literal["smb", "lost-levels"]
Sticky = Literal["frame", "step"]

_SIDE = 84  # Default height and width of images, in pixels.
_ANNEALS = "START:END:STEPS anneals it linearly over STEPS environment steps of the run."


@dataclass(frozen=True)
class EnvOptions:
    """The environments."""

    level: str = option(
        "1-1",
        "Levels to train on: one ('1-1'), several ('1-1,1-2'), a range ('1-1..1-4'), 'all', "
        "'random' (all levels, a new one every episode), or 'game' (the whole game).",
        metavar="LEVEL",
        everyday=True,
    )
    level_order: Literal["cycle", "random", "curriculum"] = option(
        "cycle",
        "With several levels: 'cycle' gives each environment one level for the whole run, 'random' "
        "draws a level for every episode, 'curriculum' prefers levels that are being learned or "
        "are not cleared yet. Use curriculum for more than a few levels.",
    )
    level_shares: str = option(
        "",
        "With --level-order curriculum or random: factors by which levels are preferred, such as "
        "'1-2=3,1-1=0.5'; levels that are not named have 1, and 0 leaves a level out. It can "
        "change while the run trains (`warpzone runs set RUN level-share:1-2=3`).",
        metavar="LEVEL=SHARE,...",
    )
    held_out: str = option(
        "",
        "Levels that are never trained on; `warpzone eval` reports them separately. Set it to "
        "measure generalization.",
        metavar="LEVELS",
    )
    game: Game = option(
        "smb",
        "Super Mario Bros. or its sequel, The Lost Levels.",
    )
    rom: str = option(
        "",
        "ROM file to play. By default, WARPZONE_ROM or the installed ROM is used.",
        metavar="FILE",
    )
    obs: Literal["pixels", "rgb", "tiles"] = option(
        "pixels",
        "Observation: grayscale frames, color frames, or the tile grid read from RAM. Tiles learn "
        "several times faster; pixels use only what a player sees. Also sets suitable defaults for "
        "the options that you do not set yourself.",
        everyday=True,
    )
    actions: str = option(
        "right-only",
        "Action set: right-only, simple, whole-game, complex, extended, or your own list such as "
        "'NOOP,RIGHT+B,RIGHT+A+B'. Levels that require moving left or down need a larger set.",
        metavar="SET",
        everyday=True,
    )
    wrap: str = option(
        "none",
        "Vector wrapper registered by a plug-in with warpzone.register_wrapper; used in training, "
        "evaluation and videos.",
        registry="wrapper",
        metavar="NAME",
    )
    num_envs: int = option(
        64,
        "Number of parallel environments. More give larger batches and use more memory.",
        at_least=1,
        at_most=65_536,
        metavar="N",
        everyday=True,
    )
    num_threads: int = option(
        0,
        "Number of threads that step the environments; 0 means one per CPU core. Results do not "
        "depend on it.",
        at_least=0,
        at_most=1024,
        metavar="N",
    )
    frame_skip: int = option(
        4,
        "Emulated frames per step; the action is repeated. Lower it for finer control.",
        at_least=1,
        at_most=60,
        metavar="FRAMES",
    )
    stack: int = option(
        0,
        "Frames or grids stacked into one observation; 0 means 4 for pixels, 1 for rgb and 2 for "
        "tiles. Raise it if two frames do not show enough motion.",
        at_least=0,
        at_most=16,
        metavar="N",
    )
    size: tuple[int, int] = option(
        (0, 0),
        "Height and width of pixels and rgb observations, such as 96 or 84x112, from 8 to 2048; 0 "
        "means 84x84. Larger images show more detail and take longer to learn from.",
        at_least=0,
        at_most=2048,
        metavar="HxW",
    )
    max_pool: bool = option(
        False,
        "Pixels and rgb: take the pixel-wise maximum of a step's last two frames, so that "
        "flickering sprites stay visible.",
    )
    show_buttons: bool = option(
        True,
        "Pixels: draw the buttons of the last frame in a corner, since sticky actions make the "
        "last action uncertain.",
        off="Pixels: do not draw the buttons of the last frame in a corner of the observation.",
    )
    hud: Literal["keep", "mask", "crop"] = option(
        "crop",
        "Pixels and rgb: keep the status bar, paint it black, or crop it.",
    )
    sticky_prob: float = option(
        0.25,
        "Probability that the previous buttons stay pressed (sticky actions), drawn as --sticky "
        "says. It keeps policies from memorizing a sequence of inputs; 0 makes play deterministic.",
        at_least=0.0,
        at_most=0.99,
        metavar="P",
    )
    sticky: Sticky = option(
        "frame",
        "When --sticky-prob applies: 'frame', at each emulated frame, as in ALE v5, or 'step', "
        "once per step, which then repeats the whole previous action. Use step to compare with "
        "results obtained that way.",
    )
    noop_max: int = option(
        30,
        "Maximum number of no-op frames at the start of an episode; the number is random.",
        at_least=0,
        at_most=1000,
        metavar="FRAMES",
    )
    game_start_prob: float = option(
        0.0,
        "Probability that an episode starts as levels do in a whole game: after the screen that "
        "announces the level, with the buttons of a random action held instead of no-op frames, "
        "without hidden blocks that contain a life (except in 1-1), and in half of the cases at "
        "the level's halfway point, as after a life lost late in the level. Use it for policies "
        "that play the whole game: lava balls, for example, meet Mario at another moment.",
        at_least=0.0,
        at_most=1.0,
        metavar="P",
    )
    max_steps: int = option(
        2000,
        "Steps after which an episode is truncated; 0 means never. Raise it for 'game'.",
        at_least=0,
        at_most=10**9,
        metavar="STEPS",
    )
    stagnation_limit: int = option(
        100,
        "Steps without progress after which an episode is truncated; 0 means never. Raise it for "
        "levels in which Mario must wait.",
        at_least=0,
        at_most=10**7,
        metavar="STEPS",
    )
    power: Literal[0, 1, 2] = option(
        0,
        "Mario at the start of a level: 0 small, 1 big, 2 fire.",
    )
    random_power: float = option(
        0.0,
        "Probability that a level starts with Mario big or with fire, equally likely, whatever "
        "--power is. In a whole game, Mario brings power-ups from earlier levels.",
        at_least=0.0,
        at_most=1.0,
        metavar="P",
    )
    reseed_game: bool = option(
        False,
        "Draw the state of the game's random number generator anew at the start of each episode. "
        "Without it, enemies such as Bowser repeat the same choices from the same start. Use it "
        "where enemies act at random; evaluation never does.",
    )
    halfway: bool = option(
        False,
        "Start episodes at the level's halfway point, where it has one.",
    )
    start_state: str = option(
        "",
        "Start every episode from this save state, as `warpzone play --state FILE` writes it.",
        metavar="FILE",
    )
    exact: bool = option(
        False,
        "Emulate without shortcuts. Results are identical, but much slower; for debugging.",
    )
    backend: Literal["native", "nes-py"] = option(
        "native",
        "Emulator: Warpzone's native core, or nes-py (needs --vector async or sync). Use nes-py "
        "only to compare with results obtained on it.",
    )
    vector: Literal["native", "sync", "async"] = option(
        "native",
        "How environments are stepped: on native threads, one after the other in this process "
        "(sync), or in one process each (async).",
    )
    strict_stage: bool = option(
        False,
        "Stop with an error instead of a warning if the emulator starts a different level from the "
        "one requested.",
    )

    @property
    def stacked_frames(self) -> int:
        """Number of frames or grids in one observation."""
        return self.stack or {"pixels": 4, "rgb": 1, "tiles": 2}[self.obs]

    def policy_env_options(self) -> dict[str, Any]:
        """Returns the env keywords that must match those a policy was trained with."""
        options: dict[str, Any] = {
            "rom": self.rom or None,
            "game": self.game,
            "obs": self.obs,
            "actions": self.actions,
            "frame_skip": self.frame_skip,
            "stack": self.stack,
        }
        if self.obs != "tiles":
            height, width = self.size
            options |= {
                "size": (height or _SIDE, width or _SIDE),
                "max_pool": self.max_pool,
                "hud": self.hud,
            }
        if self.obs == "pixels":
            options["show_buttons"] = self.show_buttons
        if self.obs == "rgb":
            options["channels"] = "first"  # As encoders of images expect them.
        return options


@dataclass(frozen=True)
class WorkerOptions:
    """Worker processes (--vector async)."""

    prewarm: int = option(
        0,
        "Number of environments to create and close in the parent process first, so that a broken "
        "setup fails before any worker starts.",
        at_least=0,
        at_most=1024,
        metavar="N",
    )
    start_delay: float = option(
        0.0,
        "Seconds between the starts of two workers. Raise it on machines with slow disks.",
        at_least=0.0,
        at_most=3600.0,
        metavar="SECONDS",
    )
    stage_seconds: float = option(
        0.0,
        "Time limit, in seconds, for starting all workers, for a reset and for a step; 0 means the "
        "larger of 180 and 60 per environment.",
        at_least=0.0,
        at_most=86_400.0,
        metavar="SECONDS",
    )
    replacements: int = option(
        3,
        "Number of dead workers that are replaced before the run stops.",
        at_least=0,
        at_most=1_000_000,
        metavar="N",
    )
    fallback_sync: bool = option(
        False,
        "Step all environments in this process when the workers cannot be started, instead of "
        "stopping with an error.",
    )


@dataclass(frozen=True)
class StartOptions:
    """Where training episodes start; evaluation always starts at the beginning of a level."""

    share: float = option(
        0.0,
        "Fraction of episodes that start at places the agent has reached before, most of them just "
        "before places where episodes fail. It decreases as the clear rate rises. Defaults to 0.7 "
        "with --from-solutions.",
        at_least=0.0,
        at_most=1.0,
        metavar="SHARE",
    )
    solutions: str = option(
        "",
        "Folder of solutions, as written by `warpzone solve`, or 'included' for those that come "
        "with Warpzone. Progress is measured along them, and episodes start along them; with "
        "replay, they also serve as demonstrations. Use it for mazes and for levels that are hard "
        "to explore.",
        flag="from-solutions",
        metavar="FOLDER",
        everyday=True,
    )
    solution_share: float = option(
        0.5,
        "Of the episodes that start within a level, the fraction that starts along its solution; "
        "the others start at places the agent has reached.",
        at_least=0.0,
        at_most=1.0,
        metavar="SHARE",
    )
    random_steps: int = option(
        0,
        "Episodes that start within a level first hold a random action for up to this many steps, "
        "so that the policy learns from states next to those it reaches by itself. Try 20 where it "
        "always fails in the same way, for example because it never stops running.",
        at_least=0,
        at_most=1000,
        metavar="STEPS",
    )


@dataclass(frozen=True)
class RewardOptions:
    """The reward."""

    kind: str = option(
        "shaped",
        "Reward: 'shaped' (a weighted sum of the terms below), 'classic' (as in "
        "gym-super-mario-bros 7.4), or a reward registered by a plug-in.",
        registry="reward",
        flag="reward",
        metavar="NAME",
        everyday=True,
    )
    scale: Weight = weight(1.0, f"Factor for the whole reward. {_ANNEALS}")
    distance: Weight = weight(0.01, f"Reward per pixel of progress. {_ANNEALS}")
    death: Weight = weight(1.0, f"Penalty for losing a life. {_ANNEALS}")
    clear: float = weight(1.0, "Reward for clearing a level.")
    time: float = weight(
        0.003, "Penalty per step. Raise it to make Mario hurry, together with a gamma close to 1."
    )
    score: float = weight(0.0, "Reward per point of the game's score.")
    coin: float = weight(0.0, "Reward per coin.")
    power: float = weight(
        0.0,
        "Reward per level of power gained (small, big, fire), and penalty per level lost to an "
        "enemy. Mario survives a hit when he is big; 0.5 makes him collect power-ups on his way.",
    )
    milestone: float = weight(
        0.0, "Bonus each time progress passes a multiple of --reward-milestone-pixels."
    )
    milestone_pixels: int = option(
        256,
        "Pixels between two milestones.",
        at_least=1,
        at_most=1_000_000,
        metavar="PIXELS",
    )
    early_steps: int = option(
        0,
        "Steps at the start of an episode in which distance is scaled by --reward-early-factor.",
        at_least=0,
        at_most=1_000_000,
        metavar="STEPS",
    )
    early_factor: float = weight(
        1.0, "Factor for the distance weight in the early steps of an episode."
    )

    @property
    def env_reward(self) -> Literal["shaped", "classic"]:
        """The reward that environments compute; a plug-in's reward replaces it."""
        return "classic" if self.kind == "classic" else "shaped"

    def weights(self, num_envs: int) -> dict[str, Weight]:
        """Returns the weights as keywords of an environment.

        Args:
            num_envs: Number of environments that share the steps of the run. Each environment
                anneals by its own steps only.
        """
        weights = asdict(self)
        del weights["kind"]
        for name, value in weights.items():
            if isinstance(value, tuple):
                start, end, steps = value
                weights[name] = (start, end, max(1, steps // num_envs))
        return weights
