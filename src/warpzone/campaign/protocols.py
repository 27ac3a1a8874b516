"""The protocols of the scoreboard, and the episodes that a policy file is measured with.

Seeds follow from the SHA-256 of the policy file, so nobody can choose them: a file has exactly one
set of episodes, which exists only once training is over. They are at least 2**61, far above the
seeds of training and of the checks during it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_FIRST_SEED = 2**61
_SEED_BYTES = 7


@dataclass(frozen=True)
class Protocol:
    """How episodes are played, always from the level's start.

    Attributes:
        name: Its key in scoreboard.json.
        heading: Its column in tables.
        description: What distinguishes it, as part of a sentence.
        env: Keywords of the environment.
        greedy: Always take the most likely action instead of sampling.
    """

    name: str
    heading: str
    description: str
    env: Mapping[str, Any] = field(default_factory=dict)
    greedy: bool = False


NOOP_MAX = 30
STICKY_PROB = 0.25
PROTOCOLS = (
    Protocol(
        "sticky",
        "clear rate",
        "sampled actions, sticky actions (0.25 per frame)",
        {"sticky_prob": STICKY_PROB, "noop_max": NOOP_MAX},
    ),
    Protocol(
        "sticky_step",
        "sticky per step",
        "sampled actions, sticky actions (0.25 per step)",
        {"sticky_prob": STICKY_PROB, "sticky": "step", "noop_max": NOOP_MAX},
    ),
    Protocol(
        "no_sticky",
        "no stickiness",
        "sampled actions, no sticky actions",
        {"sticky_prob": 0.0, "noop_max": NOOP_MAX},
    ),
    Protocol(
        "greedy",
        "greedy",
        "the most likely action, sticky actions (0.25 per frame)",
        {"sticky_prob": STICKY_PROB, "noop_max": NOOP_MAX},
        greedy=True,
    ),
)
MAIN = PROTOCOLS[0]
"""The protocol that counts. The others show how a policy depends on noise and on sampling."""
OTHERS = PROTOCOLS[1:]


def row_seed(sha256: str, level: str, protocol: Protocol) -> int:
    """Seed of the first episode of a measurement; the following episodes have the next seeds.

    Args:
        sha256: SHA-256 of the policy file, in hexadecimal.
        level: Level that is played.
        protocol: How it is played.
    """
    digest = hashlib.sha256(f"{sha256} {level} {protocol.name}".encode()).digest()
    return _FIRST_SEED + int.from_bytes(digest[:_SEED_BYTES], "big")
