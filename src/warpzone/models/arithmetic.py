"""How many threads do the network's arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread inside; for the whole process, so nothing else may compute meanwhile.

    Small batches lose more by waking threads up than they gain by sharing. And sums of floating
    point numbers depend on how threads share them out, which one thread does not.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
