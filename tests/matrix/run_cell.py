"""Runs one cell of the matrix with the interpreter under test. Uses only the standard library.

    python3.12 tests/matrix/run_cell.py cell.json

The file describes the cell (see `CellSpec`). Builds the wheel, installs it into a new virtual
environment, and runs the smoke tests. The last line of the output is the result in JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

# Older versions of pip download a wheel of a gigabyte to find out whether it exists.
BUILD_TOOLS = ("pip", "scikit-build-core", "nanobind", "cmake", "ninja")
SHOWN = ("numpy", "gymnasium", "torch", "stable-baselines3")
PASS = "pass"
# Small enough for seconds: eight updates, then eight more.
TRAINING = (
    *("--level=1-1", "--obs=tiles", "--num-envs=4", "--num-threads=1", "--torch-threads=1"),
    *("--rollout-steps=8", "--minibatch-size=16", "--hidden=16", "--device=cpu"),
)
USE_ENVIRONMENT = """
import gymnasium, warpzone
env = warpzone.make_vec("1-1", num_envs=4, obs="pixels")
env.reset(seed=0)
for _ in range(50):
    env.step(env.action_space.sample())
env.close()
game = gymnasium.make("warpzone/SuperMarioBros-1-1-v0")
game.reset(seed=0)
game.step(1)
game.close()
"""


@dataclass(frozen=True)
class CellSpec:
    """A cell of the matrix.

    Attributes:
        source: Folder with the source code.
        builds: Where the wheel is built. Cells of the same interpreter share it; the wheel is built
            if it is not there.
        folder: Where the virtual environment and the files of the run are written.
        rom: The game.
        constraints: Exact versions of the build tools.
        requirements: What pip installs next to the wheel.
        torch: Requirements for torch in order of preference; the first that pip finds is installed.
        torch_users: What pip installs next to torch.
        system_packages: Whether the virtual environment sees the system's packages, torch included.
        borrowed: Folder of further packages that are importable without installing them, torch
            included; empty installs everything.
        module: Compiled module to use instead of compiling one; empty compiles it.
    """

    source: str
    builds: str
    folder: str
    rom: str
    constraints: str
    requirements: tuple[str, ...]
    torch: tuple[str, ...] = ()
    torch_users: tuple[str, ...] = ()
    system_packages: bool = False
    borrowed: str = ""
    module: str = ""


class StepError(Exception):
    """A program failed; the message is its last line."""


def run(*command: str | Path, folder: Path, rom: str = "") -> str:
    """Runs a program in a folder and returns what it prints.

    Raises:
        StepError: If it fails.
    """
    hidden = {"PYTHONPATH", "VIRTUAL_ENV"}
    variables = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=variables | ({"WARPZONE_ROM": rom} if rom else {}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise StepError(lines[-1] if lines else f"exit status {done.returncode}")
    return done.stdout


def programs_of(environment: Path) -> Path:
    """Returns the folder of a virtual environment's programs."""
    return environment / ("Scripts" if sys.platform == "win32" else "bin")


def build_tools(spec: CellSpec) -> list[str | Path]:
    """Returns the command of a pip next to which the build tools are installed."""
    if spec.borrowed:
        return [sys.executable, "-m", "pip"]
    environment = Path(spec.builds) / "tools"
    pip = [programs_of(environment) / "python", "-m", "pip"]
    installed = environment / "installed.txt"
    if not installed.exists():
        venv.create(environment, with_pip=True, clear=True)
        run(*pip, "install", "-q", "-c", spec.constraints, *BUILD_TOOLS, folder=environment)
        installed.touch()
    return pip


def build_wheel(spec: CellSpec, pip: list[str | Path]) -> Path:
    """Builds the wheel with this interpreter. A kept build folder makes the next build short."""
    folder = Path(spec.builds)
    made = folder / "wheel"
    if not made.exists():
        kept = f"--config-settings=build-dir={folder / 'build'}"
        options = ["-q", "--no-deps", "--no-build-isolation", kept, "-w", made]
        if spec.module:
            options.append("--config-settings=wheel.cmake=false")
        run(*pip, "wheel", *options, spec.source, folder=folder)
    (wheel,) = made.glob("*.whl")
    return wheel


def find_torch(spec: CellSpec, pip: list[str | Path]) -> str | None:
    """Returns the first requirement for torch that pip finds, without downloading gigabytes."""
    for requirement in spec.torch:
        try:
            run(*pip, "--dry-run", "--no-deps", requirement, folder=Path(spec.folder))
        except StepError:
            continue
        return requirement
    return None


def install(spec: CellSpec, tools: list[str | Path], wheel: Path) -> tuple[Path, bool]:
    """Installs the wheel and its dependencies into a new virtual environment.

    Returns:
        The folder of the programs, and whether torch is there.
    """
    folder = Path(spec.folder)
    environment = folder / "env"
    venv.create(environment, clear=True, system_site_packages=spec.system_packages)
    programs = programs_of(environment)
    pip = [*tools, "--python", programs / "python", "install", "-q", "--only-binary", ":all:"]
    if spec.borrowed:
        library = Path(sysconfig.get_path("purelib", vars={"base": str(environment)}))
        (library / "borrowed.pth").write_text(spec.borrowed + "\n", encoding="utf-8")
        run(*pip, "--no-deps", wheel, *spec.requirements, *spec.torch_users, folder=folder)
        shutil.copy(spec.module, library / "warpzone")
        return programs, True
    torch = find_torch(spec, pip)
    wanted = [*spec.requirements, *([torch] if torch else [])]
    has_torch = bool(torch) or spec.system_packages
    if has_torch:
        wanted += spec.torch_users
    run(*pip, f"{wheel}{'[train]' if has_torch else ''}", *wanted, folder=folder)
    return programs, has_torch


def smoke_tests(
    spec: CellSpec, programs: Path, has_torch: bool
) -> dict[str, tuple[list[str | Path], str]]:
    """Returns the commands by name, each with a text that its output must contain."""
    python, warpzone = programs / "python", programs / "warpzone"
    video = [warpzone, "video", "-o", "run.mp4", "--scale=1", "--fps=20", "--speed=8"]
    tests: dict[str, tuple[list[str | Path], str]] = {
        "environment": ([python, "-c", USE_ENVIRONMENT], "")
    }
    if not has_torch:
        return tests | {"video": ([*video, "1-1.solution"], "run.mp4")}
    train = [warpzone, "train", *TRAINING, "--steps=256", "--name=smoke"]
    example = Path(spec.source) / "examples" / "sb3.py"
    return tests | {
        "train": (train, "256"),
        "resume": ([warpzone, "train", "--resume=smoke", "--steps=512"], "512"),
        "eval": ([warpzone, "eval", "smoke", "--episodes=2"], "| 1-1 |"),
        "video": ([*video, "smoke"], "run.mp4"),
        "sb3": ([python, example, "--steps=1024"], "trained for"),
    }


def run_smoke_tests(spec: CellSpec, programs: Path, has_torch: bool) -> dict[str, str]:
    """Runs the commands in an empty folder; returns 'pass' or the reason by name."""
    folder = Path(spec.folder) / "files"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    results = {}
    for name, (command, expected) in smoke_tests(spec, programs, has_torch).items():
        try:
            printed = run(*command, folder=folder, rom=spec.rom)
            results[name] = PASS if expected in printed else f"did not print {expected!r}"
        except StepError as error:
            results[name] = str(error)
    return results


def installed_versions(programs: Path, folder: Path) -> dict[str, str]:
    """Returns the versions that the table shows, as the virtual environment sees them."""
    program = (
        "import json; from importlib.metadata import distributions as all_of\n"
        "print(json.dumps([(d.metadata['Name'], d.version) for d in all_of()][::-1]))"
    )
    found = json.loads(run(programs / "python", "-c", program, folder=folder))
    versions = {name.lower().replace("_", "-"): version for name, version in found if name}
    return {name: versions[name] for name in SHOWN if name in versions}


def main() -> int:
    """Command line."""
    given = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    spec = CellSpec(**given)
    result: dict[str, object] = {"python": sys.version.split()[0], "reason": ""}
    try:
        tools = build_tools(spec)
        programs, has_torch = install(spec, tools, build_wheel(spec, tools))
        result["versions"] = installed_versions(programs, Path(spec.folder))
        result["tests"] = run_smoke_tests(spec, programs, has_torch)
    except StepError as error:
        result["reason"] = str(error)
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
