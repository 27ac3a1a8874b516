"""PufferLib's own trainer on its own Breakout; runs inside the peer's environment.

The configuration is the one that PufferLib ships for this game: 128 hidden units and an LSTM of the
same size, 64 steps, one epoch, minibatches of 32,768, the Muon optimizer. Only the device, and the
number of worker processes with 1,024 environments each, differ. The game is not the Atari game but
a small one written in C; its observations are 118 numbers, not pixels.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator

from .serve import serve

os.chdir(tempfile.mkdtemp())  # On import, PufferLib creates a link in the current folder.

from pufferlib import pufferl  # noqa: E402

ENV = "puffer_breakout"


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Discards the trainer's dashboard, which would disturb the protocol."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):  # noqa: PTH123
        yield


def trainer(workers: int) -> pufferl.PuffeRL:
    """Starts the environments and creates the trainer."""
    # `load_config` reads the command line.
    sys.argv = ["puffer", "--train.device", "cpu"]
    sys.argv += ["--vec.num-envs", str(workers), "--vec.num-workers", str(workers)]
    config = pufferl.load_config(ENV)
    # A schedule that a measurement does not reach the end of.
    config["train"]["total_timesteps"] = 10**9
    env = pufferl.load_env(ENV, config)
    policy = pufferl.load_policy(config, env)
    return pufferl.PuffeRL({**config["train"], "env": ENV}, env, policy)


def main() -> None:
    """Command line: the number of worker processes."""
    with quiet():
        training = trainer(int(sys.argv[1]))

    def run(_: int) -> None:
        with quiet():
            training.evaluate()  # Collects a rollout.
            training.train()

    serve(run, batch=training.config["batch_size"])
    with quiet():
        training.vecenv.close()
        training.utilization.stop()  # A thread that would keep the process alive.


if __name__ == "__main__":
    main()
