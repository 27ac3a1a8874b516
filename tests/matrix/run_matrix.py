"""Runs the compatibility matrix and writes docs/compatibility.json.

    python tests/matrix/run_matrix.py                      # every cell
    python tests/matrix/run_matrix.py --only python-3.12   # cells whose name contains this
    python tests/matrix/run_matrix.py --resume             # without those that this commit passed
    python tests/matrix/run_matrix.py --short              # one cell for CI; writes nothing
    python tests/matrix/run_matrix.py --wheels dist        # use the wheels of `make wheel`
    python tests/matrix/run_matrix.py --gpu-builds         # allow PyPI's torch, several gigabytes

Builds a wheel of the commit for each Python and runs the smoke tests of run_cell.py in fresh
virtual environments. Then compiles and tests the native core with other compilers. Writes the row
of a cell as soon as it has run. A cell that cannot run here has the reason in the table. Fails if a
cell that ran failed.
"""

from __future__ import annotations

import argparse
import datetime
import io
import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from built_wheels import copy_wheel  # noqa: E402
from matrix_results import (  # noqa: E402
    Row,
    failed,
    passed_cells,
    printed_table,
    read_results,
    record_result,
)
from native_builds import BUILDS, NativeBuild, compile_tests, run_tests  # noqa: E402
from package_sets import oldest, requirements, torch_candidates  # noqa: E402
from places import PLACES, ObstacleError, Place  # noqa: E402
from run_cell import PASS, SHOWN, CellSpec  # noqa: E402

from warpzone import _native  # noqa: E402
from warpzone.rom.locate import find_rom  # noqa: E402

Record = Callable[[str, Row], None]
WORK = ROOT / "build" / "matrix"
TESTS = ("environment", "train", "resume", "eval", "video", "sb3")
NO_TORCH = "pip finds no CPU build of torch for this Python (`--gpu-builds` allows GPU builds)"
DEBIAN_BUILD = "debian"
# What the short form installs; the rest, and the compiled module, it takes from here.
SHORT_SET = ("numpy", "gymnasium", "pillow", "imageio", "pyarrow")


def clean_source(folder: Path) -> Path:
    """Copies the committed files, so nothing that is not committed gets into a wheel."""
    git = ["git", "-C", str(ROOT), "archive", "HEAD"]
    archive = subprocess.run(git, check=True, capture_output=True)
    shutil.rmtree(folder, ignore_errors=True)
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder


def run_cell(name: str, command: list[str], spec: CellSpec) -> Row:
    """Runs a cell with the interpreter under test and returns its row."""
    Path(spec.folder).mkdir(parents=True, exist_ok=True)
    description = Path(spec.folder) / "cell.json"
    description.write_text(json.dumps(asdict(spec)), encoding="utf-8")
    script = ROOT / "tests" / "matrix" / "run_cell.py"
    print(f"{name} ...", flush=True)
    done = subprocess.run(
        [*command, str(script), str(description)], stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        return {"reason": f"run_cell.py ended with status {done.returncode}", "failed": True}
    result = json.loads(done.stdout.splitlines()[-1])
    tests = result.get("tests", {})
    wrong = [f"{test}: {text}" for test, text in tests.items() if text != PASS]
    if result["reason"]:
        wrong.append(result["reason"])
    notes = [NO_TORCH] if tests and "train" not in tests else []
    row: Row = {"python": result["python"], **result.get("versions", {})}
    row |= {test: "fail" if text != PASS else PASS for test, text in tests.items()}
    return row | {"failed": bool(wrong), "reason": "; ".join(wrong + notes)}


def python_cell(place: Place, packages: str, source: Path, gpu_builds: bool) -> Row:
    """Runs the cell of an interpreter and a set of packages."""
    name = f"{place.key}-{packages}"
    rom = find_rom()
    plain, torch_users = requirements(place.version, packages)
    torch = torch_candidates(place.version, packages, gpu_builds)
    spec = CellSpec(
        source=str(source),
        builds=str(WORK / place.key),
        folder=str(WORK / name),
        rom=str(rom),
        constraints=str(ROOT / "constraints.txt"),
        requirements=tuple(plain),
        torch=() if place.system_packages else tuple(torch),
        torch_users=tuple(torch_users),
        system_packages=place.system_packages,
    )
    row: Row = {"kind": "python", "place": place.name, "packages": packages}
    try:
        row |= {"python": place.version} | run_cell(name, place.command(ROOT, rom), spec)
    except ObstacleError as error:
        row |= {"python": place.version, "reason": str(error)}
    wanted = torch[0].removeprefix("torch==").partition("+")[0]
    found = row.get("torch", "")
    note = torch_note(place, wanted, found) if found else ""
    row["reason"] = "; ".join(filter(None, (row["reason"], note)))
    shutil.rmtree(WORK / name / "env", ignore_errors=True)
    return row


def torch_note(place: Place, wanted: str, found: str) -> str:
    """Says which build of torch a cell has used, if it is not the one to be tried."""
    version, _, build = found.partition("+")
    if place.system_packages:
        too_old = f"Debian's torch is too old for this Stable-Baselines3; pip installed {found}"
        return "" if build == DEBIAN_BUILD else too_old
    if version != wanted and not version.startswith(f"{wanted}."):
        return f"no CPU build of torch {wanted} here; ran with {found}"
    return "" if build else "torch with GPU libraries, which are not used"


def native_cell(build: NativeBuild) -> Row:
    """Compiles and tests the native core."""
    print(f"{build.name} ...", flush=True)
    row: Row = {"kind": "native", "build": build.name, "compiled": "", "tests": "", "reason": ""}
    try:
        compile_tests(build, WORK / build.key)
        row["compiled"] = PASS
        row["tests"] = run_tests(build, WORK / build.key, find_rom())
        passed, _, total = row["tests"].partition(" of ")
        row["failed"] = passed != total
    except ObstacleError as error:
        row["reason"] = str(error)
        row["failed"] = "does not compile" in str(error)
    return row


def short_matrix() -> list[Row]:
    """Runs the oldest NumPy and Gymnasium with this interpreter; takes torch from here."""
    shutil.rmtree(WORK / "short" / "wheel", ignore_errors=True)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    versions = oldest(version)
    spec = CellSpec(
        source=str(clean_source(WORK / "short" / "source")),
        builds=str(WORK / "short"),
        folder=str(WORK / "short"),
        rom=str(find_rom()),
        constraints=str(ROOT / "constraints.txt"),
        requirements=tuple(f"{name}=={versions[name]}" for name in SHORT_SET),
        module=str(_native.__file__),
        borrowed=str(Path(metadata.distribution("torch").locate_file(""))),
    )
    row = run_cell("short", [sys.executable], spec)
    return [{"kind": "python", "place": "this machine", "packages": "oldest", **row}]


def package_sets_of(place: Place) -> tuple[str, ...]:
    """Debian's own packages are neither the oldest nor a choice of ours."""
    return ("newest",) if place.system_packages else ("oldest", "newest")


def rows_to_run() -> dict[str, Row]:
    """Returns the row of every cell before it has run."""
    rows: dict[str, Row] = {}
    for place in PLACES:
        known = {"kind": "python", "place": place.name, "python": place.version}
        for packages in package_sets_of(place):
            rows[f"{place.key}-{packages}"] = known | {"packages": packages}
    rows |= {build.key: {"kind": "native", "build": build.name} for build in BUILDS}
    return {name: row | {"reason": "not run yet"} for name, row in rows.items()}


def current_commit() -> str:
    """Returns the commit whose files the cells use."""
    git = ["git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD"]
    return subprocess.run(git, check=True, capture_output=True, text=True).stdout.strip()


@dataclass(frozen=True)
class Choice:
    """What to run, and with what.

    Attributes:
        names: The cells.
        gpu_builds: Whether pip may install torch with GPU libraries.
        wheels: Folder of wheels for interpreters of this machine; None builds them.
    """

    names: frozenset[str]
    gpu_builds: bool = False
    wheels: Path | None = None


def place_cells(place: Place, choice: Choice, record: Record) -> None:
    """Runs the chosen cells of one interpreter, which share a wheel."""
    cells = {f"{place.key}-{packages}": packages for packages in package_sets_of(place)}
    if not cells.keys() & choice.names:
        return
    made = WORK / place.key / "wheel"
    shutil.rmtree(made, ignore_errors=True)  # Of an earlier commit.
    source = clean_source(WORK / place.key / "source")
    if choice.wheels and not place.system_packages:
        copy_wheel(choice.wheels, place.version, source, made)
    for name, packages in cells.items():
        if name in choice.names:
            record(name, python_cell(place, packages, source, choice.gpu_builds))


def run_cells(choice: Choice, jobs: int, record: Record) -> None:
    """Runs the chosen cells; those of emulators come last, since they are slow."""
    with ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(place_cells, place, choice, record) for place in PLACES]
        waiting += [
            pool.submit(lambda build: record(build.key, native_cell(build)), build)
            for build in BUILDS
            if build.key in choice.names
        ]
        try:
            for cell in waiting:
                cell.result()
        finally:
            pool.shutdown(cancel_futures=True)


def run_and_record(choice: Choice, jobs: int) -> list[Row]:
    """Runs the chosen cells, writes each row when its cell has run, and returns the rows."""
    stamp = {
        "commit": current_commit(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }
    rows: dict[str, Row] = {}

    def record(name: str, row: Row) -> None:
        rows[name] = row | stamp
        record_result(name, rows[name], rows_to_run(), WORK / "results.lock")

    run_cells(choice, jobs, record)
    return list(rows.values())


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--wheels", type=Path, metavar="FOLDER")
    parser.add_argument("--gpu-builds", action="store_true")
    arguments = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    if arguments.short:
        rows = short_matrix()
    else:
        names = {name for name in rows_to_run() if arguments.only in name}
        if arguments.resume:
            names -= passed_cells(read_results(), current_commit())
        choice = Choice(frozenset(names), arguments.gpu_builds, arguments.wheels)
        rows = run_and_record(choice, arguments.jobs)
    pythons = [row for row in rows if row["kind"] == "python"]
    natives = [row for row in rows if row["kind"] == "native"]
    if pythons:
        print(printed_table(pythons, ("place", "python", "packages", *SHOWN, *TESTS)))
    if natives:
        print(printed_table(natives, ("build", "compiled", "tests")))
    return 1 if any(map(failed, rows)) else 0


if __name__ == "__main__":
    sys.exit(main())
