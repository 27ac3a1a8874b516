"""Each hint is given for its own reason, once per cool-down."""

from __future__ import annotations

import pytest

from warpzone.training.guidance.hints import Hints

GOOD: dict[str, float | int | None] = {
    "run/updates": 200,
    "rollout/forward_share": 0.9,
    "rollout/clear_rate": 0.4,
    "episode/count": 30,
    "episode/progress_p50": 900,
    "end/stagnation_share": 0.1,
    "end/step_limit_share": 0.0,
    "end/time_share": 0.0,
    "learn/entropy": 0.8,
    "learn/skipped": 0,
    "loss/value": 0.2,
    "replay/fill": 0.6,
    "resources/gpu_percent/0": 85.0,
}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_healthy_run_gets_no_hints() -> None:
    hints = Hints()
    for _ in range(50):
        assert hints.observe(GOOD) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rollout/forward_share": 0.01}, "only 1% of the envs move forward"),
        ({"episode/progress_p50": 12}, "half of the episodes end within 12 pixels"),
        ({"replay/fill": 0.01}, "replay uses only 1.0% of its capacity"),
        ({"resources/gpu_percent/0": 20.0}, "the GPU is busy only 20 %"),
        (
            {"end/stagnation_share": 0.5, "end/step_limit_share": 0.2},
            "70% of the episodes are truncated",
        ),
        ({"learn/entropy": 0.01}, "is nearly deterministic"),
        ({"learn/skipped": 3}, "3 updates were skipped"),
        ({"loss/value": 50.0}, "over ten times its usual value"),
    ],
)
def test_each_problem_has_its_hint_once_per_cool_down(change: dict[str, float], words: str) -> None:
    clock = Clock()
    hints = Hints(cool_down=100.0, clock=clock)
    for _ in range(20):
        assert hints.observe(GOOD) == []
    (said,) = hints.observe(GOOD | change)
    assert words in said
    assert "--" in said, "advice names an option to try"
    assert hints.observe(GOOD | change) == []
    clock.now += 101
    more = {
        name: value * 2 if name.startswith(("learn/sk", "loss")) else value
        for name, value in change.items()
    }
    assert len(hints.observe(GOOD | more)) == 1


def test_the_first_updates_are_not_judged() -> None:
    poor = GOOD | {"run/updates": 5, "rollout/forward_share": 0.0, "learn/entropy": 0.0}
    assert Hints().observe(poor) == []


def test_missing_metrics_give_no_hints() -> None:
    assert Hints().observe({"run/updates": 500, "loss/value": None}) == []


@pytest.mark.parametrize(
    "change",
    [
        {"learn/entropy": 0.0},
        {"rollout/forward_share": 0.0},
        {"end/stagnation_share": 0.9},
    ],
)
def test_a_scripted_run_gets_no_hints_about_its_policy(change: dict[str, float]) -> None:
    scripted = GOOD | {"rollout/override_share": 1.0}
    assert Hints().observe(scripted | change) == []
