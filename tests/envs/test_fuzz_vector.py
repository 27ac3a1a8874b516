"""A short turn of the vector fuzzer; `make fuzz` runs it for long, under sanitizers."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "fuzz"))

from fuzz_vector import CASES, fuzz_vector


def test_wrong_input_of_every_kind_is_taken_or_refused_but_never_harms() -> None:
    counts = fuzz_vector(cases=1500)
    assert sum(counts.values()) == 1500
    for name in CASES:
        assert counts[name, "rejected"] > 10
    assert counts["buffers", "accepted"] > 10
    assert counts["env states", "accepted"] > 10
