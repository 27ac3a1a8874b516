import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from world import build_world

_SPARE_BYTES = 1024**3
_STATM = Path("/proc/self/statm")


@pytest.fixture(scope="session")
def pristine_world(tmp_path_factory: pytest.TempPathFactory, rom_path: Path) -> Path:
    return build_world(tmp_path_factory.mktemp("world"), rom_path)


@pytest.fixture(autouse=True)
def bounded_memory(pristine_world: Path) -> Iterator[None]:
    """No input may take much memory: whoever asks for more fails here."""
    if not _STATM.exists():
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(_STATM.read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + _SPARE_BYTES, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
