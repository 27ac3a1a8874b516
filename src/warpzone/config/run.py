"""Options of the run itself: length, device, files, watchdogs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from warpzone.config.option import option

LARGEST_SEED = 2**32 - 1
"""Largest seed that NumPy and all random streams of a run accept."""
PLUGIN_HELP = (
    "Module, or path of a .py file, that registers encoders, rewards, algorithms or wrappers; it "
    "is imported first. Repeat the flag for several. A plug-in named only by a file is never "
    "imported."
)


@dataclass(frozen=True)
class RunOptions:
    """The run."""

    steps: int = option(
        1_000_000,
        "Environment steps of the run, summed over all environments, such as 1e6, 500_000 or 2M.",
        at_least=1,
        at_most=10**15,
        metavar="STEPS",
        everyday=True,
    )
    stop_at_clear_rate: float = option(
        0.0,
        "Stop the run once this fraction of the last 100 episodes cleared the level; 0 disables "
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
        "Name of the run's folder; by default it is derived from the level.",
        metavar="NAME",
        everyday=True,
    )
    init_from: str = option(
        "",
        "Run, checkpoint or policy file whose weights a new run starts with, such as a policy for "
        "other levels; of a folder, the policy for the run's level. Network and observation "
        "must be the same; additional actions start improbable.",
        metavar="PATH",
    )
    init_temperature: float = option(
        1.0,
        "Temperature of the policy that --init-from names: its logits are divided by it once. "
        "Training then starts from the policy as evaluation samples it, which loses fewer episodes "
        "to random actions.",
        at_least=0.05,
        at_most=20.0,
        metavar="T",
    )
    runs: str = option("runs", "Folder in which runs are stored.", metavar="FOLDER")
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
        "Precision of the forward pass. 'auto' uses native code on the CPU where it applies, and "
        "otherwise bfloat16 where the hardware accelerates it; native convolutions round weights "
        "of the first layer to 16 bits, which 'float32' does not.",
    )
    acting: Literal["auto", "native", "torch"] = option(
        "auto",
        "What chooses actions during collection: native code, which plays whole rollouts without "
        "returning to Python and learns from lists of active inputs, or PyTorch, step by step. "
        "'auto' uses native code where it applies: tiles with the built-in network, without a "
        "recurrent core, scripts or wrappers, on the CPU in float32.",
    )
    torch_threads: int = option(
        0,
        "Number of PyTorch threads; 0 means one per CPU core. With 1, results do not depend on the "
        "number of cores.",
        at_least=0,
        at_most=1024,
        metavar="N",
    )
    compile: bool = option(
        False,
        "Compile the network with torch.compile. Takes about half a minute; pays off on GPUs.",
    )
    overlap: bool = option(
        False,
        "Collect the next rollout while learning from the current one. `warpzone bench overlap` "
        "measures whether it pays off.",
    )
    auto_mem: bool = option(
        False,
        "Reduce the memory use of a new run step by step if it runs out of memory at the start.",
    )
    log_every: int = option(
        5,
        "Number of updates between two rows of metrics.",
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
        "Number of recent checkpoints to keep, besides the latest and the best.",
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
        "Seconds above which a step of the environments counts as slow; 0 disables tracing. Not "
        "measured with native acting, which plays whole rollouts.",
        at_least=0.0,
        at_most=1e6,
        metavar="SECONDS",
    )
    slow_count: int = option(
        5,
        "Number of slow steps within --slow-window that starts a trace.",
        at_least=1,
        at_most=1_000_000,
        metavar="N",
    )
    slow_window: float = option(
        60.0,
        "Window, in seconds, over which slow steps are counted; also the duration of a trace.",
        above=0.0,
        at_most=1e6,
        metavar="SECONDS",
    )
    hint_minutes: float = option(
        30.0,
        "Minimum number of minutes before a hint is repeated; 0 disables hints.",
        at_least=0.0,
        at_most=1e6,
        metavar="MINUTES",
    )
