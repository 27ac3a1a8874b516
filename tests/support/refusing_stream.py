"""Text stream that fails like a full disk, a closed pipe or a lost terminal."""

from __future__ import annotations

import io


class RefusingStream(io.StringIO):
    """Rejects all output with an error code until `code` is set to None."""

    def __init__(self, code: int) -> None:
        super().__init__()
        self.code: int | None = code

    def write(self, text: str) -> int:
        self._refuse()
        return super().write(text)

    def flush(self) -> None:
        self._refuse()

    def _refuse(self) -> None:
        if self.code is not None:
            raise OSError(self.code, "refused")
