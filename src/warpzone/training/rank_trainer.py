"""Training with several ranks: rank 0 runs the loop, and the others do what its trainer does."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from warpzone.config import TrainConfig
from warpzone.errors import WarpzoneError
from warpzone.telemetry.metrics import MetricRow
from warpzone.training.live_feed import LiveFeed
from warpzone.training.player import without_episodes
from warpzone.training.process_ranks import ProcessRanks
from warpzone.training.session import MakeTrainer
from warpzone.training.timed_env import StepWatch
from warpzone.training.trainer import Trainer

_UPDATE, _STATE, _LOAD, _BEGIN, _CONFIG, _END = "update", "state", "load", "begin", "config", "end"
_RANKS = "ranks"
_SUMS = ("reward/sum", "speed/steps_per_second")


class LeadingTrainer(Trainer):
    """Trainer of rank 0, whose calls the other ranks repeat.

    Its state contains the environments of every rank. The weights, the counters and the statistics
    are the same everywhere.
    """

    def __init__(
        self,
        config: TrainConfig,
        *,
        ranks: ProcessRanks,
        worker_logs: Path | None = None,
        step_watch: StepWatch | None = None,
        live_feed: LiveFeed | None = None,
    ):
        """Creates the trainers of all ranks, with the same weights."""
        self._group = ranks
        ranks.share(config)
        super().__init__(
            config,
            worker_logs=worker_logs,
            step_watch=step_watch,
            live_feed=live_feed,
            ranks=ranks,
        )
        ranks.equalize(self.model.state_dict().values())

    def begin(self) -> None:
        """Starts the environments of a new run."""
        self._order(_BEGIN)
        super().begin()

    def update(self) -> MetricRow:
        """Makes an update with all ranks and returns the mean of their metrics."""
        self._order(_UPDATE)
        try:
            row = super().update()
            return merged(self._group.gather(row))
        except BaseException as error:
            # The others wait for data of this update, so they cannot receive orders any more.
            self._group.report_failure(str(error) or type(error).__name__)
            raise

    def reconfigure(self, config: TrainConfig) -> None:
        """Applies changed options on all ranks."""
        self._order(_CONFIG, config)
        super().reconfigure(config)

    def state_dict(self) -> dict[str, Any]:
        """Returns the state of all ranks; only this rank's once another one has failed."""
        if not self._group.connected:
            return super().state_dict() | {_RANKS: []}
        self._order(_STATE)
        state = super().state_dict()
        return state | {_RANKS: self._group.collect({})[1:]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resumes all ranks; with another number of ranks, environments start new episodes."""
        self._order(_LOAD)
        own = {name: part for name, part in state.items() if name != _RANKS}
        others: Sequence[dict[str, Any]] = state.get(_RANKS, ())
        if len(others) + 1 != self._group.size:
            others = [{} for _ in range(self._group.size - 1)]
            own = without_episodes(own)
        super().load_state_dict(self._group.deal([own, *({**own, **other} for other in others)]))

    def close(self) -> None:
        """Ends the other ranks and closes the environments."""
        if self._group.connected:
            self._order(_END)
            self._group.connected = False
        super().close()

    def _order(self, name: str, argument: Any = None) -> None:
        self._group.share((name, argument))


def train_with_ranks(train: Callable[[MakeTrainer], int]) -> int:
    """Trains as one of the ranks that `torchrun` started, and returns the exit code.

    Args:
        train: Trains on rank 0, given how to create the trainer.
    """
    ranks = ProcessRanks()
    try:
        if ranks.rank > 0:
            follow(ranks)
            return 0
        try:
            code = train(partial(LeadingTrainer, ranks=ranks))
            if ranks.connected:  # There was nothing to train.
                ranks.share(None)
            return code
        except WarpzoneError as error:
            if ranks.connected:
                ranks.report_failure(str(error))
            raise
    finally:
        ranks.leave()


def follow(ranks: ProcessRanks) -> None:
    """Trains as a rank other than 0 until rank 0 ends.

    Raises:
        WarpzoneError: This rank or another one has failed.
    """
    for number in ("SIGINT", "SIGTERM", "SIGHUP"):  # Rank 0 decides when to stop.
        if hasattr(signal, number):
            signal.signal(getattr(signal, number), signal.SIG_IGN)
    config: TrainConfig | None = ranks.share(None)
    if config is None:
        return
    try:
        trainer = Trainer(config.with_plugins(), ranks=ranks)
        try:
            ranks.equalize(trainer.model.state_dict().values())
            while _obeyed(ranks, trainer):
                # Rank 0 reports them.
                trainer.take_episodes()
                trainer.statistics.take_metrics()
        finally:
            trainer.close()
    except Exception as error:
        if ranks.connected:
            ranks.report_failure(f"{type(error).__name__}: {error}")
        if isinstance(error, WarpzoneError):
            raise
        raise WarpzoneError(
            f"rank {ranks.rank} failed with {type(error).__name__}: {error}"
        ) from error


def _obeyed(ranks: ProcessRanks, trainer: Trainer) -> bool:
    """Carries out an order of rank 0; returns False for the last one."""
    order: tuple[str, Any] = ranks.share(None)
    name, argument = order
    if name == _BEGIN:
        trainer.begin()
    elif name == _UPDATE:
        ranks.gather(trainer.update())
    elif name == _CONFIG:
        trainer.reconfigure(argument)
    elif name == _STATE:
        state = trainer.state_dict()
        own = trainer.player.state_dict().keys() | {"random", "replay"}
        ranks.collect({part: state[part] for part in own})
    elif name == _LOAD:
        trainer.load_state_dict(ranks.deal())
    return name != _END


def merged(rows: Sequence[MetricRow]) -> MetricRow:
    """Returns the metrics of an update of several ranks: means, except for sums."""
    row = {
        name: value if isinstance(value, int) else sum(other[name] for other in rows) / len(rows)
        for name, value in rows[0].items()
        if all(name in other for other in rows)
    }
    for name in _SUMS:
        row[name] = sum(float(other[name]) for other in rows)
    return row
