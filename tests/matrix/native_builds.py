"""Builds the native core with other compilers and for other processors, and runs its tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from places import ObstacleError

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / ".venv" / "bin"
# Emulators are slow, and programs with a low priority wait for others.
EMULATED_SECONDS = 7200
# CTest 4.4 leaves out the number of failed tests if there are none.
SUMMARY = re.compile(r"\d+% tests passed(?:, (\d+) tests failed)? out of (\d+)")


@dataclass(frozen=True)
class NativeBuild:
    """A build of the native tests.

    Attributes:
        name: Name in the table.
        compiler: Program that must exist.
        definitions: Further options for CMake.
        emulator: Program that runs the tests and its arguments; empty runs them directly.
        package: Debian packages that contain the programs.
    """

    name: str
    compiler: str
    definitions: tuple[str, ...] = ()
    emulator: tuple[str, ...] = ()
    package: str = ""

    @property
    def key(self) -> str:
        """Name of the build folder."""
        return "native-" + re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")


# The slowest comes last.
BUILDS = (
    NativeBuild("GCC, x86-64", "g++", package="g++"),
    NativeBuild("Clang, x86-64", "clang++", package="clang"),
    NativeBuild(
        "GCC, x86-64-v2 baseline", "g++", ("-DCMAKE_CXX_FLAGS=-march=x86-64-v2",), package="g++"
    ),
    NativeBuild(
        "MinGW, Windows x86-64",
        "x86_64-w64-mingw32-g++-posix",
        (
            "-DCMAKE_SYSTEM_NAME=Windows",
            "-DCMAKE_SYSTEM_PROCESSOR=AMD64",
            "-DCMAKE_EXE_LINKER_FLAGS=-static",
        ),
        ("wine",),
        "g++-mingw-w64-x86-64-posix wine",
    ),
    NativeBuild(
        "GCC, ARM64",
        "aarch64-linux-gnu-g++",
        ("-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64"),
        ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"),
        "g++-aarch64-linux-gnu qemu-user",
    ),
)


def _run(*command: str | Path, rom: str = "") -> subprocess.CompletedProcess[str]:
    variables = os.environ | ({"WARPZONE_ROM": rom} if rom else {})
    return subprocess.run(
        list(map(str, command)),
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def _first_error(output: str) -> str:
    errors = [line for line in output.splitlines() if "error:" in line.lower()]
    return (errors or output.strip().splitlines() or ["no output"])[0].strip()


def compile_tests(build: NativeBuild, folder: Path) -> None:
    """Configures and compiles.

    Raises:
        ObstacleError: If the compiler is missing, or the code does not compile.
    """
    if not shutil.which(build.compiler):
        raise ObstacleError(f"no {build.compiler} here; `apt-get install {build.package}`")
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DWARPZONE_BINDINGS=OFF"]
    options += ["-DWARPZONE_NATIVE_TESTS=ON", f"-DCMAKE_CXX_COMPILER={build.compiler}"]
    options += [f"-DCMAKE_MAKE_PROGRAM={PROGRAMS / 'ninja'}", *build.definitions]
    if build.emulator:
        options.append(f"-DWARPZONE_TEST_SECONDS={EMULATED_SECONDS}")
    if build.emulator and shutil.which(build.emulator[0]):
        options.append(f"-DCMAKE_CROSSCOMPILING_EMULATOR={';'.join(build.emulator)}")
    cmake = PROGRAMS / "cmake"
    configure = _run(cmake, "-S", ROOT, "-B", folder, "-G", "Ninja", *options)
    compiled = _run(cmake, "--build", folder, "-j", "2") if not configure.returncode else configure
    if compiled.returncode:
        print(compiled.stdout)
        raise ObstacleError(f"does not compile: {_first_error(compiled.stdout)}")


def run_tests(build: NativeBuild, folder: Path, rom: Path) -> str:
    """Runs the compiled tests and returns how many passed.

    Raises:
        ObstacleError: If the emulator is missing.
    """
    if build.emulator and not shutil.which(build.emulator[0]):
        raise ObstacleError(f"compiled only: no {build.emulator[0]} here to run the tests")
    tests = ["--test-dir", folder, "--no-tests=error", "--output-on-failure"]
    done = _run(PROGRAMS / "ctest", *tests, rom=str(rom))
    summary = SUMMARY.search(done.stdout)
    if done.returncode:
        print(done.stdout)
    if not summary:
        raise ObstacleError("compiled, but ctest printed no summary")
    failed, total = int(summary[1] or 0), int(summary[2])
    return f"{total - failed} of {total}"
