"""What ended a run, in one sentence for people, where there is something that they can do."""

from __future__ import annotations

import torch

from warpzone.errors import RunError

# What torch's allocator for the CPU says; it has no class of its own for it.
_ALLOCATOR = "DefaultCPUAllocator"


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, of the machine or of a GPU."""
    if isinstance(error, MemoryError | torch.cuda.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and _ALLOCATOR in str(error)


def out_of_memory(error: BaseException, saved: str) -> RunError:
    """Says what to do about it, and what became of the latest state."""
    reason = str(error).strip().splitlines()[0] if str(error) else type(error).__name__
    return RunError(
        f"memory ran out ({reason}); {saved}; resume with a smaller --minibatch-size and "
        "--resume-with-changes, or start again with fewer --num-envs or --rollout-steps"
    )
