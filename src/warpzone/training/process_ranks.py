"""Ranks connected by torch.distributed, as `torchrun` starts them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from warpzone.algorithms.ranks import Moments, Ranks, moments_of, sums_of
from warpzone.config import TrainConfig
from warpzone.errors import ConfigError, RunError
from warpzone.system.cpu import processor_cores

Item = TypeVar("Item")

_RANKS_APART = 15_485_863  # Between seeds; larger than any number of environments.
_FAILURE = "warpzone/failure"
# The others wait while rank 0 is paused; a rank that has ended is noticed at once.
_PATIENCE = timedelta(days=30)


class ProcessRanks(Ranks):
    """Connects the ranks: gloo in host memory, NCCL on GPUs."""

    def __init__(self) -> None:
        """Joins the group that the variables of `torchrun` describe.

        Raises:
            RunError: The other ranks cannot be reached.
        """
        backend = "gloo"
        if torch.cuda.is_available():
            backend = "cpu:gloo,cuda:nccl"
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
        try:
            dist.init_process_group(backend, timeout=_PATIENCE)
        except (RuntimeError, ValueError) as error:
            raise RunError(f"the ranks cannot connect ({_first_line(error)})") from error
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.connected = True
        """False once a rank has failed: nothing can be exchanged any more."""

    def average_gradients(self, parameters: Iterable[Tensor], finite: bool) -> bool:
        """Replaces gradients by their mean over the ranks, with one reduction."""
        gradients = [p.grad for p in parameters if p.grad is not None]
        flag = gradients[0].new_tensor([0.0 if finite else 1.0])
        # Transposed weights are flattened in the order of their memory, which all ranks share.
        flat = torch.cat([*(_flat(gradient) for gradient in gradients), flag])
        self._reduce(flat)
        infinite = float(flat[-1]) > 0
        flat /= self.size
        offset = 0
        for gradient in gradients:
            part = _flat(gradient)
            part.copy_(flat[offset : offset + part.numel()])
            offset += part.numel()
        return not infinite

    def mean(self, value: float) -> float:
        """Returns the mean of a value over the ranks."""
        total = torch.tensor([value], dtype=torch.float64)
        self._reduce(total)
        return float(total) / self.size

    def moments(self, advantages: Tensor, mask: Tensor | None) -> Moments | None:
        """Returns the moments over the minibatches of all ranks."""
        sums = sums_of(advantages, mask)
        self._reduce(sums)
        return moments_of(*sums.unbind()) if float(sums[0]) > 1 else None

    def gather(self, item: Item) -> list[Item]:
        """Returns the items of all ranks, in order of the ranks."""
        items: list[Any] = [None] * self.size
        self._try(lambda: dist.all_gather_object(items, item))
        return items

    def collect(self, item: Item) -> list[Item]:
        """Returns the items of all ranks on rank 0, and nothing on the others."""
        items: list[Any] | None = [None] * self.size if self.rank == 0 else None
        self._try(lambda: dist.gather_object(item, items, dst=0))
        return items or []

    def deal(self, items: Sequence[Item] = ()) -> Item:
        """Gives each rank its item of those that rank 0 has."""
        received: list[Any] = [None]
        every = list(items) if self.rank == 0 else None
        self._try(lambda: dist.scatter_object_list(received, every, src=0))
        own: Item = received[0]
        return own

    def share(self, item: Item | None) -> Item:
        """Returns rank 0's item on every rank."""
        items: list[Any] = [item]
        self._try(lambda: dist.broadcast_object_list(items, src=0))
        shared: Item = items[0]
        return shared

    def equalize(self, tensors: Iterable[Tensor]) -> None:
        """Copies rank 0's tensors to every rank."""
        for tensor in tensors:
            copy = tensor.detach().clone(memory_format=torch.contiguous_format)
            self._try(partial(dist.broadcast, copy, src=0))
            tensor.detach().copy_(copy)

    def report_failure(self, message: str) -> None:
        """Leaves the reason why this rank ends, for the others."""
        self.connected = False
        store = dist.distributed_c10d._get_default_store()
        store.set(_FAILURE, f"rank {self.rank}: {message}")

    def leave(self) -> None:
        """Leaves the group."""
        if dist.is_initialized():
            dist.destroy_process_group()

    def _reduce(self, tensor: Tensor) -> None:
        self._try(lambda: dist.all_reduce(tensor))

    def _try(self, exchange: Callable[[], Any]) -> None:
        """Exchanges data with the other ranks.

        Raises:
            RunError: A rank has ended; the message is its own if it left one.
        """
        if not self.connected:
            raise RunError("a rank has failed, so the ranks cannot continue")
        try:
            exchange()
        except RuntimeError as error:
            self.connected = False
            raise RunError(self._failure(error)) from error

    def _failure(self, error: RuntimeError) -> str:
        store = dist.distributed_c10d._get_default_store()
        with suppress(RuntimeError):  # The process that holds the messages may have ended as well.
            if store.check([_FAILURE]):
                return f"another rank has failed, so this one ends: {store.get(_FAILURE).decode()}"
        return (
            "another rank has ended without a message; it may have been killed "
            f"({_first_line(error)})"
        )


def _flat(gradient: Tensor) -> Tensor:
    """Returns a gradient as a vector that shares its memory."""
    if gradient.is_contiguous():
        return gradient.view(-1)
    return gradient.as_strided((gradient.numel(),), (1,))


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


def has_ranks(variables: Mapping[str, str] = os.environ) -> bool:
    """Whether `torchrun` started this process together with others."""
    return int(variables.get("WORLD_SIZE") or 1) > 1 and "MASTER_ADDR" in variables


def local_ranks(variables: Mapping[str, str] = os.environ) -> int:
    """Returns the number of ranks on this machine."""
    return int(variables.get("LOCAL_WORLD_SIZE") or 1)


def share_of(config: TrainConfig, ranks: Ranks) -> TrainConfig:
    """Returns the part of a configuration that one rank carries out.

    Environments, minibatches and replay are divided among the ranks, so a run computes the same
    amount of learning whatever their number. Each rank has its own seed.

    Raises:
        ConfigError: Something cannot be divided.
    """
    if ranks.size == 1:
        return config
    if config.distill.teachers:
        raise ConfigError("distill.teachers does not work with several ranks; omit torchrun")
    threads = max(1, processor_cores() // local_ranks())
    env, learn, run, replay = config.env, config.learn, config.run, config.replay
    return replace(
        config,
        env=replace(
            env,
            num_envs=_divided("env.num_envs", env.num_envs, ranks.size),
            num_threads=env.num_threads or threads,
        ),
        learn=replace(
            learn,
            minibatch_size=_divided("learn.minibatch_size", learn.minibatch_size, ranks.size),
        ),
        replay=replace(
            replay,
            capacity=_divided("replay.capacity", replay.capacity, ranks.size),
            batch_size=_divided("replay.batch_size", replay.batch_size, ranks.size),
            learning_starts=replay.learning_starts // ranks.size,
        ),
        run=replace(
            run,
            seed=run.seed + ranks.rank * _RANKS_APART,
            torch_threads=run.torch_threads or threads,
        ),
    )


def _divided(option: str, value: int, parts: int) -> int:
    if value % parts:
        raise ConfigError(
            f"{option} is {value}, which {parts} ranks cannot share equally; use a multiple of "
            f"{parts}"
        )
    return value // parts
