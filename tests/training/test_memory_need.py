"""The estimate of a run's memory covers what its rollouts take."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tiny import UPDATE, tiny

from warpzone.config import ReplayOptions
from warpzone.training.memory_need import memory_need
from warpzone.training.trainer import Trainer


@pytest.mark.parametrize("acting", ["native", "torch"])
@pytest.mark.parametrize("capacity", [0, 2 * UPDATE])
def test_the_estimate_of_a_rollout_covers_its_storage(
    rom_path: Path, acting: str, capacity: int
) -> None:
    config = replace(tiny(acting=acting), replay=ReplayOptions(capacity=capacity, batch_size=16))
    trainer = Trainer(config)
    taken = trainer.storage.nbytes
    trainer.close()
    assert taken <= memory_need(config).rollout <= 2 * taken
