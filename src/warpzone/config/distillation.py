"""Options of distillation."""

from __future__ import annotations

from dataclasses import dataclass

from warpzone.config.option import option


@dataclass(frozen=True)
class DistillOptions:
    """Distillation of trained policies into the network of the run."""

    teachers: str = option(
        "",
        "Policy file, or folder of policy files, to learn from instead of rewards: the network "
        "plays, and the policy of each level says what it would have done. Levels without a "
        "policy are left out.",
        metavar="PATH",
        flag="teachers",
    )
    capacity: int = option(
        300_000,
        "States that are kept to learn from, newest first. Lower it if memory is short: a state "
        "takes about 700 bytes.",
        at_least=1,
        at_most=10**9,
        metavar="N",
    )
    batches: int = option(
        12,
        "Gradient steps per rollout. Raise it if playing takes longer than learning.",
        at_least=1,
        at_most=10_000,
        metavar="N",
    )
    batch_size: int = option(
        1024,
        "States per gradient step.",
        at_least=1,
        at_most=1_048_576,
        metavar="N",
    )
    save: bool = option(
        True,
        "Save the kept states with checkpoints. Without them a resumed run fills the buffer anew, "
        "so it differs from an uninterrupted one.",
        off="Do not save the kept states with checkpoints. Files are smaller, but a resumed run "
        "fills the buffer anew.",
    )
