"""Options of the run itself: length, place, files, watchdogs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from warpzone.config.option import option

LARGEST_SEED = 2**32 - 1
"""What NumPy and every random stream here take."""
PLUGIN_HELP = (
    "Module, or path of a .py file, that registers encoders, rewards, algorithms or wrappers; "
    "imported first. Repeat it for several. A plug-in that only a file names is never imported."
)


@dataclass(frozen=True)
class RunOptions:
    """The run."""

    steps: int = option(
        1_000_000,
        "Environment steps of the whole run, over all environments; 1e6, 500_000 and 2M are fine.",
        at_least=1,
        at_most=10**15,
        metavar="STEPS",
        everyday=True,
    )
    stop_at_clear_rate: float = option(
        0.0,
        "End the run early once this share of the last 100 episodes cleared the level; 0 disables "
        "this.",
        at_least=0.0,
        at_most=1.0,
        metavar="SHARE",
        everyday=True,
    )
    seed: int = option(
        0,
        "Random seed.",
        at_least=0,
        at_most=LARGEST_SEED,
        metavar="SEED",
        everyday=True,
    )
    name: str = option(
        "",
        "Name of the run's folder; by default it is made from the level.",
        metavar="NAME",
        everyday=True,
    )
    runs: str = option("runs", "Folder that holds the runs.", metavar="FOLDER")
    plugins: tuple[str, ...] = option(
        (),
        PLUGIN_HELP,
        flag="plugin",
        metavar="MODULE",
        repeated=True,
        everyday=True,
    )
    device: str = option(
        "auto",
        "Device of the network: auto, cpu, cuda, cuda:1 or mps.",
        metavar="DEVICE",
        everyday=True,
    )
    precision: Literal["auto", "float32", "bfloat16", "float16"] = option(
        "auto",
        "Precision of the forward pass; 'auto' takes bfloat16 where the hardware is fast at it.",
    )
    acting: Literal["auto", "native", "torch"] = option(
        "auto",
        "What chooses actions while collecting: native code, which plays whole rollouts without "
        "returning to Python and learns from lists of active inputs, or PyTorch step by step. "
        "'auto' takes native code where it applies: tiles with the built-in network, without "
        "recurrent core, scripts or wrappers, on the CPU in float32.",
    )
    torch_threads: int = option(
        0,
        "Threads of PyTorch; 0 means one per CPU core. With 1, results do not depend on the number "
        "of cores.",
        at_least=0,
        at_most=1024,
        metavar="N",
    )
    compile: bool = option(
        False,
        "Compile the network with torch.compile. It takes half a minute and pays off on GPUs.",
    )
    overlap: bool = option(
        False,
        "Collect the next rollout while learning from the current one. `warpzone bench overlap` "
        "measures whether it pays off.",
    )
    auto_mem: bool = option(
        False,
        "Shrink a new run step by step when memory runs out at its start.",
    )
    log_every: int = option(
        5,
        "Updates between two rows of metrics.",
        at_least=1,
        at_most=1_000_000,
        metavar="UPDATES",
    )
    checkpoint_minutes: float = option(
        2.0,
        "Minutes between two checkpoints.",
        above=0.0,
        at_most=100_000.0,
        metavar="MINUTES",
    )
    keep_checkpoints: int = option(
        3,
        "Most recent checkpoints to keep, besides the latest and the best.",
        at_least=1,
        at_most=1_000_000,
        metavar="N",
    )
    video_minutes: float = option(
        10.0,
        "Minutes between two videos of the policy, recorded in the background; 0 disables them.",
        at_least=0.0,
        at_most=100_000.0,
        metavar="MINUTES",
    )
    wandb: str = option(
        "",
        "Also send metrics to this Weights & Biases project; needs `pip install wandb`.",
        metavar="PROJECT",
    )


@dataclass(frozen=True)
class WatchOptions:
    """Watchdogs and hints."""

    stall_seconds: float = option(
        300.0,
        "Seconds without progress after which the stacks of all threads are written to stalls/; 0 "
        "disables this.",
        at_least=0.0,
        at_most=1e6,
        metavar="SECONDS",
    )
    slow_step: float = option(
        1.0,
        "Seconds from which a step of the environments counts as slow; 0 disables tracing. Not "
        "measured with native acting, which plays whole rollouts.",
        at_least=0.0,
        at_most=1e6,
        metavar="SECONDS",
    )
    slow_count: int = option(
        5,
        "Slow steps within --slow-window that start a trace.",
        at_least=1,
        at_most=1_000_000,
        metavar="N",
    )
    slow_window: float = option(
        60.0,
        "Seconds in which slow steps are counted, and that a trace lasts.",
        above=0.0,
        at_most=1e6,
        metavar="SECONDS",
    )
    hint_minutes: float = option(
        30.0,
        "Minutes before the same hint may be repeated; 0 disables hints.",
        at_least=0.0,
        at_most=1e6,
        metavar="MINUTES",
    )
