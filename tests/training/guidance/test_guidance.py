"""Scripts, rescue and adaptive control on the real game."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from warpzone.config import (
    AdaptiveOptions,
    EnvOptions,
    LearnOptions,
    ModelOptions,
    RescueOptions,
    RunOptions,
    ScriptOptions,
    TrainConfig,
)
from warpzone.envs.actions import ACTION_SETS, resolve_actions
from warpzone.errors import ConfigError
from warpzone.models.actor_critic import log_prob
from warpzone.rollout.collector import StepObserver
from warpzone.training.guidance.plans import Plans
from warpzone.training.trainer import Trainer

ACTIONS = ACTION_SETS["right-only"]
ENVS = 8


def small(**tables: object) -> TrainConfig:
    config = TrainConfig(
        env=EnvOptions(obs="tiles", num_envs=ENVS, num_threads=1),
        model=ModelOptions(hidden=16),
        learn=LearnOptions(rollout_steps=32, minibatch_size=256, epochs=1),
        run=RunOptions(steps=10**6, torch_threads=1, device="cpu"),
    )
    return replace(config, **tables)  # type: ignore[arg-type]


def standing_still(config: TrainConfig, *observers: StepObserver) -> Trainer:
    """Returns a trainer whose policy never moves and never learns to."""
    config = replace(config, learn=replace(config.learn, learning_rate=1e-30))
    trainer = Trainer(config, observers=observers)
    with torch.no_grad():
        trainer.model.policy.weight.zero_()
        trainer.model.policy.bias.zero_()
        trainer.model.policy.bias[ACTIONS.index("NOOP")] = 100.0
    trainer.begin()
    return trainer


@pytest.mark.parametrize("overlap", [False, True])
def test_a_policy_that_stands_still_is_driven_500_pixels_by_the_first_rescue(
    rom_path: Path, overlap: bool
) -> None:
    config = small(rescue=RescueOptions(after=3, cool_down=100))
    furthest = np.zeros(ENVS, np.int64)

    def watch(info: dict[str, np.ndarray], rewards: np.ndarray, ended: np.ndarray) -> None:
        np.maximum(furthest, info["progress"], out=furthest)

    trainer = standing_still(replace(config, run=replace(config.run, overlap=overlap)), watch)
    rows = []
    while not rows or rows[-1]["rescue/count"] == 0:
        assert furthest.max() < 50, "nobody should have moved yet"
        rows.append(trainer.update())
    assert len(rows) == 3
    while len(rows) == 3 or rows[-1]["rollout/override_share"] > 0:
        rows.append(trainer.update())
    trainer.close()
    assert rows[-1]["rescue/count"] == 1
    assert (furthest >= 500).mean() >= 0.5, furthest
    assert sum(row["rollout/override_share"] for row in rows) * 32 == pytest.approx(480 / 4)


def test_ratios_of_other_steps_are_bit_equal_with_and_without_an_override(
    rom_path: Path,
) -> None:
    """Overriding some environments does not change the learner's data of the others."""
    ratios = []
    for overridden in ([], [0, 2, 4, 6]):
        trainer = Trainer(small())
        trainer.begin()
        trainer.guidance.override.follow([ACTIONS.index("RIGHT+A+B")] * 32, overridden)
        storage = trainer.source.take().storage
        assert storage.overridden.any(0).nonzero().flatten().tolist() == overridden
        rollout = trainer.learner.tensors(storage, trainer.learner.targets(storage))
        with torch.no_grad(), trainer.autocast():
            decision = trainer.model.unroll(rollout.obs, rollout.state, rollout.first)
        steps = rollout.steps
        ratio = (log_prob(decision.logits, steps["actions"]) - steps["log_probs"]).exp()
        ratios.append(torch.stack([ratio, steps["advantages"], steps["returns"]])[:, :, 1::2])
        trainer.close()
    assert torch.equal(ratios[0], ratios[1])


def test_weights_do_not_depend_on_what_overridden_steps_report(rom_path: Path) -> None:
    results = []
    for garbage in (0.0, -1e4):
        trainer = Trainer(small())
        trainer.begin()
        trainer.guidance.override.follow([ACTIONS.index("RIGHT+A+B")] * 20, range(0, ENVS, 2))
        storage = trainer.source.take().storage
        storage.log_probs[storage.overridden] = garbage
        storage.rewards[storage.overridden] = garbage
        trainer.learner.learn(storage, ent_coef=0.01)
        results.append(torch.cat([p.detach().flatten() for p in trainer.model.parameters()]))
        trainer.close()
    assert torch.equal(results[0], results[1])
    assert results[0].isfinite().all()


def test_adaptive_control_shows_in_the_next_rollouts_rewards(rom_path: Path) -> None:
    """Environments that are forced forward immediately earn more by the weight."""
    sums = []
    for enabled in (False, True):
        options = AdaptiveOptions(enabled=enabled, factor=2.0, cool_down=100)
        trainer = standing_still(small(adaptive=options, rescue=RescueOptions(after=0)))
        first = trainer.update()
        weight = first.get("adaptive/distance_weight", trainer.config.reward.distance)
        assert weight == pytest.approx(0.02 if enabled else 0.01)
        trainer.guidance.override.follow([ACTIONS.index("RIGHT+B")] * 20, range(ENVS))
        row = trainer.update()
        time_penalty = trainer.config.reward.time * 32 * ENVS
        sums.append(row["reward/sum"] + time_penalty)
        trainer.close()
    assert sums[1] == pytest.approx(2 * sums[0], rel=1e-3)
    assert sums[0] > 0.01 * 100 * ENVS


def plans(script: ScriptOptions, actions: str = "right-only") -> Plans:
    config = small(script=script)
    config = replace(config, env=replace(config.env, actions=actions))  # type: ignore[arg-type]
    return Plans(config, resolve_actions(actions))


def test_the_order_of_precedence_is_explicit_probe_sequence_frames(rom_path: Path) -> None:
    jump, run, walk = (ACTIONS.index(name) for name in ("RIGHT+A+B", "RIGHT+B", "RIGHT"))
    everything = ScriptOptions("RIGHT:8", 12, jump, 60, 1)
    assert plans(everything).start() == [jump] * 3
    probed = plans(replace(everything, forward_action=-1)).start()
    assert len(probed) == 3
    assert probed[0] in (jump, run)
    assert plans(replace(everything, forward_action=-1, probe_frames=0)).start() == [walk] * 2
    frames = ScriptOptions(forward_frames=12)
    assert plans(frames).start() == [run] * 3
    assert plans(ScriptOptions()).start() == []


def test_a_rescue_presses_its_pattern_or_the_given_forward_action() -> None:
    jump, run = ACTIONS.index("RIGHT+A+B"), ACTIONS.index("RIGHT+B")
    assert plans(ScriptOptions()).rescue(80) == ([jump] * 8 + [run]) * 2 + [jump] * 2
    assert plans(ScriptOptions(forward_action=1)).rescue(8) == [1, 1]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (ScriptOptions("START:8"), r"script\.sequence: .*presses only START"),
        (ScriptOptions("RIGHT:-1"), r"script\.sequence: 'RIGHT:-1' must end"),
        (ScriptOptions(forward_action=5), r"script\.forward_action is 5.*only has actions 0 to 4"),
    ],
)
def test_mistakes_in_scripts_are_named(script: ScriptOptions, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        plans(script).start()


def test_scripted_starts_move_a_policy_that_would_not(rom_path: Path) -> None:
    script = ScriptOptions("RIGHT+B:64", episodes=1)
    trainer = standing_still(small(script=script, rescue=RescueOptions(after=0)))
    row = trainer.update()
    trainer.close()
    assert row["rollout/override_share"] == pytest.approx(0.5)
    assert row["rollout/forward_share"] == 1.0
    assert row["rollout/progress_per_step"] > 1.0
