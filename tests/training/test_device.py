"""Storage stays in host memory whatever the network's device; compiling keeps names."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from pretend_device import There, pretend_device

from warpzone.config import EnvOptions, LearnOptions, ModelOptions, RunOptions, TrainConfig
from warpzone.errors import CheckpointError, ConfigError
from warpzone.models import compiling
from warpzone.models.placement import to_device
from warpzone.models.weights import load_weights
from warpzone.runs import checkpoint
from warpzone.runs.checkpoint import CheckpointMeta
from warpzone.training import device as devices
from warpzone.training.trainer import Trainer


def small(obs: Any = "tiles", memory: Any = "none", algo: Any = "ppo") -> TrainConfig:
    """Episodes are truncated within a rollout, so that final states are evaluated too."""
    return TrainConfig(
        env=EnvOptions(obs=obs, num_envs=4, num_threads=1, max_steps=6),
        model=ModelOptions(hidden=16, memory=memory, memory_size=8),
        learn=LearnOptions(algo=algo, rollout_steps=8, minibatch_size=16),
        run=RunOptions(torch_threads=1, device="cpu", precision="float32", acting="torch"),
    )


@pytest.mark.parametrize(
    ("obs", "memory", "algo"),
    [("tiles", "none", "ppo"), ("tiles", "gru", "vtrace"), ("pixels", "lstm", "ppo")],
)
def test_a_network_on_another_device_learns_the_same(
    monkeypatch: pytest.MonkeyPatch, rom_path: Path, obs: str, memory: str, algo: str
) -> None:
    config = small(obs, memory, algo)
    here = Trainer(config)
    here.begin()
    for _ in range(2):
        here.update()
    with pretend_device() as device:
        monkeypatch.setattr(devices, "choose_device", lambda config: device)
        there = Trainer(config)
        there.begin()
        for _ in range(2):
            there.update()
        assert all(isinstance(weight.data, There) for weight in there.model.parameters())
        assert there.storage.rewards.device.type == "cpu"
        state = there.state_dict()
        found = {name: value.cpu() for name, value in state["model"].items()}
    here.close()
    there.close()
    for name, value in here.model.state_dict().items():
        torch.testing.assert_close(found[name], value, msg=name)


def test_moving_keeps_the_shape_of_what_is_moved() -> None:
    parts = (torch.zeros(2), {"tiles": torch.ones(1), "more": (torch.arange(3),)})
    moved = to_device(parts, torch.device("meta"))
    assert isinstance(moved, tuple)
    assert list(moved[1]) == ["tiles", "more"]
    assert moved[0].device.type == moved[1]["more"][0].device.type == "meta"
    assert to_device(parts, torch.device("cpu"))[1]["tiles"] is parts[1]["tiles"]


def compiled(config: TrainConfig) -> TrainConfig:
    return replace(config, run=replace(config.run, compile=True))


@pytest.fixture
def quick_compiler(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Traces like the real compiler without generating code; records the graphs."""
    graphs: list[str] = []

    def backend(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Any:
        graphs.append(str(graph.graph))
        return graph.forward

    monkeypatch.setattr(compiling, "BACKEND", backend)
    return graphs


class NoteHandler(logging.Handler):
    def __init__(self, notes: list[str], level: int) -> None:
        super().__init__(level)
        self.notes = notes

    def emit(self, record: logging.LogRecord) -> None:
        self.notes.append(record.getMessage())


def test_warnings_of_the_compiler_are_hidden(
    rom_path: Path, quick_compiler: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    torch._dynamo.reset()
    shown: list[str] = []
    dynamo = logging.getLogger("torch._dynamo")
    monkeypatch.setattr(dynamo, "handlers", [NoteHandler(shown, logging.WARNING)])
    Trainer(compiled(small())).close()
    assert quick_compiler, "nothing was compiled"
    assert shown == []


@pytest.mark.parametrize("memory", ["none", "gru"])
def test_compiled_and_plain_networks_load_each_others_checkpoints(
    tmp_path: Path, rom_path: Path, quick_compiler: list[str], memory: str
) -> None:
    plain, fast = Trainer(small(memory=memory)), Trainer(compiled(small(memory=memory)))
    assert quick_compiler, "nothing was compiled"
    plain.begin()
    plain.update()
    first = checkpoint.save(tmp_path, "plain", plain.state_dict(), CheckpointMeta(0, 1))
    fast.load_state_dict(checkpoint.load(first).state)
    for trainer in (plain, fast):
        trainer.update()
    expected = plain.model.state_dict()
    assert fast.model.state_dict().keys() == expected.keys()
    second = checkpoint.save(tmp_path, "fast", fast.state_dict(), CheckpointMeta(0, 2))
    back = Trainer(small(memory=memory))
    back.load_state_dict(checkpoint.load(second).state)
    for name, value in back.model.state_dict().items():
        torch.testing.assert_close(value, expected[name], msg=name)
    for trainer in (plain, fast, back):
        trainer.close()


def test_a_network_wrapped_by_the_compiler_fits_too(rom_path: Path) -> None:
    trainer = Trainer(small())
    wrapped = torch.compile(trainer.model, backend="eager")
    state = wrapped.state_dict()
    assert all(name.startswith("_orig_mod.") for name in state)
    load_weights(trainer.model, state)
    load_weights(wrapped, trainer.model.state_dict())
    with pytest.raises(CheckpointError, match=r"missing: .*policy\.weight"):
        load_weights(wrapped, {})
    trainer.close()


def test_a_missing_compiler_is_named(monkeypatch: pytest.MonkeyPatch, rom_path: Path) -> None:
    def backend(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Any:
        raise RuntimeError("No working C++ compiler found")

    monkeypatch.setattr(compiling, "BACKEND", backend)
    with pytest.raises(ConfigError, match=r"run\.compile is set, but .*install a C\+\+ compiler"):
        Trainer(compiled(small()))
