"""Compiling a network with torch.compile."""

from __future__ import annotations

import logging
import os

import torch

from warpzone.models.actor_critic import ActorCritic

BACKEND = "inductor"


def compile_parts(model: ActorCritic, backend: str) -> None:
    """Compiles the encoder and the layers of the recurrent core in place, on first use.

    The parts keep their names, so checkpoints do not depend on whether the network was compiled.
    The core's loop over time stays in Python: unrolled into one graph, it would take minutes to
    compile.
    """
    if "TORCH_LOGS" not in os.environ:
        # Dynamo's warnings, such as graph breaks, only concern developers.
        torch._logging.set_logs(dynamo=logging.ERROR)  # type: ignore[attr-defined]
    for part in (model.encoder, *model.memory.children()):
        part.compile(backend=backend)
