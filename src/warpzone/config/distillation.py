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
        "policy are left out, or learn from rewards with --distill-release.",
        metavar="PATH",
        flag="teachers",
    )
    release: float = option(
        0.0,
        "Clear rate of a level at which rewards take over from its teacher; 0 learns from teachers "
        "alone.",
        at_least=0.0,
        at_most=1.0,
        metavar="RATE",
    )
    release_steps: int = option(
        300_000,
        "Steps on a level after which rewards take over at any clear rate.",
        at_least=0,
        at_most=10**12,
        metavar="STEPS",
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
    max_grad_norm: float = option(
        10.0,
        "Maximum norm of the gradients of the divergence, which are larger than those of PPO.",
        above=0.0,
        at_most=1e12,
        metavar="NORM",
    )
    save: bool = option(
        True,
        "Save the kept states with checkpoints. Without them a resumed run fills the buffer anew, "
        "so it differs from an uninterrupted one.",
        off="Do not save the kept states with checkpoints. Files are smaller, but a resumed run "
        "fills the buffer anew.",
    )
