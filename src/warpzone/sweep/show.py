"""Trials as text: for the progress of a sweep, `sweep show` and the report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from warpzone.sweep.options import SweepOptions
from warpzone.sweep.space import Parameter
from warpzone.sweep.study import ERROR, PRUNED
from warpzone.telemetry.terminal import duration, short

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

_STATES = {
    "COMPLETE": "finished",
    "PRUNED": "pruned",
    "FAIL": "failed",
    "RUNNING": "unfinished",
    "WAITING": "waiting",
}


def parameter_text(value: Parameter) -> str:
    """Formats the value of a parameter."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def parameters_text(parameters: Mapping[str, Parameter]) -> str:
    """Formats the parameters of a trial in one line."""
    return ", ".join(f"{name} {parameter_text(value)}" for name, value in parameters.items())


def value_text(value: float, objective: str) -> str:
    """Formats the value of an objective with its unit."""
    if objective == "clear-rate":
        return f"{value:.1%}"
    return f"{short(value)} steps" if objective == "steps" else duration(60 * value)


def values_text(trial: FrozenTrial, options: SweepOptions) -> str:
    """Formats the values of a finished trial; empty for others.

    Optuna gives a pruned trial its last intermediate value, which is a clear rate in training and
    not a result.
    """
    if trial.state.name != "COMPLETE":
        return ""
    pairs = zip(trial.values, options.objectives, strict=True)
    return ", ".join(value_text(value, objective) for value, objective in pairs)


def state_text(trial: FrozenTrial) -> str:
    """Returns the state of a trial in one word."""
    return _STATES[trial.state.name]


def note_text(trial: FrozenTrial) -> str:
    """Returns why a trial was pruned or failed; empty for others."""
    return str(trial.user_attrs.get(PRUNED) or trial.user_attrs.get(ERROR) or "")


def trial_line(trial: FrozenTrial, options: SweepOptions) -> str:
    """Returns one line about a trial that has ended."""
    if trial.state.name == "COMPLETE":
        return f"trial {trial.number}: {values_text(trial, options)}"
    return f"trial {trial.number} {state_text(trial)}: {note_text(trial)}"
