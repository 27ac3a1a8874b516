"""Out-of-memory errors as messages with a remedy."""

from __future__ import annotations

import torch

from warpzone.errors import RunError

# Appears in messages of torch's CPU allocator, which does not raise a specific class.
_ALLOCATOR = "DefaultCPUAllocator"


def is_out_of_memory(error: BaseException) -> bool:
    """Whether the machine or a GPU ran out of memory."""
    if isinstance(error, MemoryError | torch.cuda.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and _ALLOCATOR in str(error)


def out_of_memory(error: BaseException, saved: str) -> RunError:
    """Returns an error that names the remedy and whether the latest state was saved."""
    reason = str(error).strip().splitlines()[0] if str(error) else type(error).__name__
    return RunError(
        f"memory ran out ({reason}); {saved}; resume with a smaller --minibatch-size and "
        "--resume-with-changes, or start again with fewer --num-envs or --rollout-steps"
    )
