"""Training speed, in environment steps per second, beside PPO on other games.

    python benchmarks/atari_context.py
    python benchmarks/atari_context.py --puffer path/to/python   # also PufferLib's trainer

This gives context and is not a comparison of implementations: the games, observations, networks and
numbers of epochs differ, as the table states. There are no ratios for this reason. One step is one
action, held for four frames in every game. All contestants may use all cores.

- Warpzone trains with the CPU preset on pixels and on tiles, as `warpzone train` does. On pixels it
  also learns from a replay buffer, which the table leaves out.
- EnvPool is a vector environment without a trainer. A plain PPO loop in PyTorch trains on its Atari
  Breakout: with CleanRL's hyperparameters and the Nature CNN, the same with 64 environments, and
  with the network and sizes that Warpzone uses for pixels.
- PufferLib 3 trains on its own Breakout, written in C, from 118 numbers instead of pixels.

The contestants take turns, and the best turn of each counts. A turn ends with a complete update, so
slow contestants exceed `--seconds`.

PufferLib is not installed automatically: its build downloads files from GitHub and fails with a
CPU version of PyTorch if `nvcc` is on the PATH. Install `torch==2.13.0`, `cython` and
`setuptools<81` into a virtual environment of its own, then its requirements. Without GitHub, unpack
the source distribution, create the folders that it would download (`raylib-5.5_webassembly`,
`box2d-web`, `box2d-linux-amd64`), delete every `pufferlib/ocean/*/binding.c` except Breakout's, and
run `pip install --no-build-isolation --no-deps .` there.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # As the `warpzone` command does.

import argparse
import json
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path

from env_throughput import best_rates

from warpzone.bench.machine import machine_info
from warpzone.bench.peers import install
from warpzone.bench.peers.serve import Worker, measure
from warpzone.config import make_config
from warpzone.system.cpu import processor_cores
from warpzone.training.trainer import Trainer

PUFFER_ENVS = 1024  # Per worker process.


@dataclass(frozen=True)
class Contestant:
    """What is trained, and how; the row of the table without its result."""

    name: str
    game: str
    obs: str
    envs: int
    steps: int
    epochs: int
    minibatch_size: int
    network: str

    def cells(self, rate: float) -> tuple[str, ...]:
        """Returns the table cells."""
        size = f"{self.envs:,} x {self.steps}"
        learning = f"{self.epochs} x {self.minibatch_size:,}"
        return self.name, self.game, self.obs, size, learning, self.network, f"{rate:,.0f}"


HEADINGS = ("trainer", "game", "obs", "envs x steps", "epochs x minibatch", "network", "steps/s")


def ours(obs: str, stack: ExitStack) -> tuple[Contestant, Callable[[int], None]]:
    """Returns our training with the CPU preset, ready for its first update."""
    config = make_config(obs=obs)
    trainer = stack.enter_context(closing(Trainer(config)))
    trainer.begin()
    images = {"pixels": f"84 x 84 x {config.env.stack}"}
    networks = {"pixels": "space-to-depth 32-32/256"}
    contestant = Contestant(
        "Warpzone",
        f"Super Mario Bros. {config.env.level}",
        images.get(obs, obs),
        config.env.num_envs,
        config.learn.rollout_steps,
        config.learn.epochs,
        config.learn.minibatch_size,
        networks.get(obs, f"{obs}/{config.model.hidden}"),
    )
    return contestant, lambda _: trainer.update()


def envpool_contestants() -> dict[Contestant, tuple[str, ...]]:
    """Returns the contestants on EnvPool and the arguments of their workers."""
    same = make_config(obs="pixels")
    sizes = [
        ("nature", "Nature CNN 32-64-64/512", 4, 8, 128, 4, 256),
        # The same batch as with 8 environments, so that one update does not take minutes.
        ("nature", "Nature CNN 32-64-64/512", 4, 64, 16, 4, 256),
        (
            "space-to-depth",
            "space-to-depth 32-32/256",
            same.env.stack,
            same.env.num_envs,
            same.learn.rollout_steps,
            same.learn.epochs,
            same.learn.minibatch_size,
        ),
    ]
    return {
        Contestant(
            "PPO in PyTorch, EnvPool",
            "Atari Breakout",
            f"84 x 84 x {stack}",
            envs,
            steps,
            epochs,
            minibatch_size,
            network,
        ): (
            *("--encoder", encoder),
            *("--stack", str(stack)),
            *("--envs", str(envs)),
            *("--threads", str(processor_cores())),
            *("--steps", str(steps)),
            *("--epochs", str(epochs)),
            *("--minibatch-size", str(minibatch_size)),
        )
        for encoder, network, stack, envs, steps, epochs, minibatch_size in sizes
    }


def markdown(rates: dict[Contestant, float]) -> str:
    """Returns a Markdown table."""
    rows = [contestant.cells(rate) for contestant, rate in rates.items()]
    lines = [HEADINGS, tuple("---" for _ in HEADINGS), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", type=Path, default=install.DEFAULT_FOLDER)
    parser.add_argument("--puffer", type=Path, help="Python interpreter with PufferLib 3")
    parser.add_argument("--seconds", type=float, default=8.0, help="minimum duration of one turn")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    options = parser.parse_args()
    workers: dict[Contestant, tuple[Path, str, tuple[str, ...]]] = {}
    python = install.install(install.ENVPOOL, options.peers)
    for contestant, arguments in envpool_contestants().items():
        workers[contestant] = python, "envpool_train", arguments
    if options.puffer is not None:
        processes = processor_cores()
        contestant = Contestant(
            "PufferLib 3.0.0",
            "PufferLib Breakout",
            "118 numbers",
            processes * PUFFER_ENVS,
            64,
            1,
            32768,
            "128, LSTM 128",
        )
        workers[contestant] = options.puffer, "puffer_train", (str(processes),)
    with ExitStack() as stack:
        turns: dict[Contestant, Callable[[], float]] = {}
        for obs in ("pixels", "tiles"):
            contestant, update = ours(obs, stack)
            batch = contestant.envs * contestant.steps
            turns[contestant] = lambda update=update, batch=batch: measure(  # type: ignore[misc]
                update, options.seconds, batch
            )
        for contestant, (interpreter, script, arguments) in workers.items():
            worker = stack.enter_context(closing(Worker(interpreter, script, *arguments)))
            turns[contestant] = lambda worker=worker: worker.rate(options.seconds, "wall")  # type: ignore[misc]
        names = {f"[{index}]": contestant for index, contestant in enumerate(turns, 1)}
        best = best_rates({name: turns[names[name]] for name in names}, options.repeats)
    rates = {names[name]: rate for name, rate in best.items()}
    print("\n".join(f"{key}: {value}" for key, value in machine_info().items()))
    print(f"best of {options.repeats} turns of at least {options.seconds:g} s\n")
    print(markdown(rates))
    if options.json is not None:
        rows = [asdict(contestant) | {"rate": rate} for contestant, rate in rates.items()]
        options.json.write_text(json.dumps({"machine": machine_info(), "rows": rows}, indent=2))


if __name__ == "__main__":
    main()
