"""Number of PyTorch threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Limits PyTorch to one thread; process-wide, so nothing else may compute meanwhile.

    Small batches lose more by waking threads than they gain from them. Also, floating-point sums
    depend on how work is divided among threads; with one thread, they are reproducible.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
