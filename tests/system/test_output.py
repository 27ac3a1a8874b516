"""Output that is refused never reaches the caller as an error."""

import errno
import io
import subprocess
import sys

import pytest
from refusing_stream import RefusingStream

from warpzone.system.output import TolerantStream, say


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EPIPE, errno.EIO])
def test_a_refused_line_is_dropped_and_later_ones_appear(code: int) -> None:
    stream = RefusingStream(code)
    output = TolerantStream(stream)
    output.write("one\n")
    output.flush()
    stream.code = None
    output.write("two\n")
    output.flush()
    assert stream.getvalue() == "two\n"


def test_a_closed_stream_is_no_error() -> None:
    stream = io.StringIO()
    stream.close()
    say("nobody reads this", stream)


def test_characters_that_the_encoding_lacks_are_escaped() -> None:
    buffer = io.BytesIO()
    stream = io.TextIOWrapper(buffer, encoding="ascii")
    say("a┃b", stream)
    assert buffer.getvalue() == b"a\\u2503b\n"


def test_a_program_whose_output_was_refused_to_the_end_still_ends_well() -> None:
    code = "from warpzone.system.output import say; say('x' * 100_000); say('more')"
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device, not a path
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (0, b"")
