"""Compiling a network with torch.compile."""

from __future__ import annotations

import logging
import os

import torch

from warpzone.models.actor_critic import ActorCritic

BACKEND = "inductor"


def compile_parts(model: ActorCritic, backend: str) -> None:
    """Compiles the encoder and the layers of the memory, in place, at their first use.

    The parts keep their names, so that a checkpoint does not show whether its network was compiled.
    The loop over time of a memory stays Python: unrolled into one program it would take minutes to
    compile.
    """
    if "TORCH_LOGS" not in os.environ:
        # Its warnings are notes for developers, such as where a graph is broken.
        torch._logging.set_logs(dynamo=logging.ERROR)  # type: ignore[attr-defined]
    for part in (model.encoder, *model.memory.children()):
        part.compile(backend=backend)
