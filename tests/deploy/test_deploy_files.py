"""The deployment files are well-formed and use options that exist."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from warpzone.cli import COMMANDS
from warpzone.commands.cluster import ClusterTrain
from warpzone.commands.command import Group, inherited_options, own_options
from warpzone.commands.dashboard import Dashboard

DEPLOY = Path(__file__).parent.parent.parent / "deploy"
YAML = sorted(DEPLOY.glob("*.yaml"))


def documents(name: str) -> list[dict]:  # type: ignore[type-arg]
    return [document for document in yaml.safe_load_all((DEPLOY / name).read_text()) if document]


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.name)
def test_yaml_files_parse(path: Path) -> None:
    assert documents(path.name)


def test_compose_publishes_ports_on_the_loopback_interface_only() -> None:
    services = documents("compose.yaml")[0]["services"]
    assert services.keys() == {"trainer", "dashboard", "tensorboard"}
    for service in services.values():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))


def test_containers_do_not_run_as_root() -> None:
    stages = re.split(r"^FROM ", (DEPLOY / "Dockerfile").read_text(), flags=re.MULTILINE)
    final = {stage.split()[2]: stage for stage in stages[1:]}
    for target in ("cpu", "cuda"):
        assert "USER warpzone" in final[target]
    assert "HEALTHCHECK" in final["base"]
    kinds = {document["kind"]: document for document in documents("kuberay.yaml")}
    spec = kinds["RayJob"]["spec"]["rayClusterSpec"]
    for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
        assert group["template"]["spec"]["securityContext"]["runAsNonRoot"] is True


def test_commands_in_the_files_use_options_that_exist() -> None:
    flags = {
        option.flag for option in (*own_options(ClusterTrain), *inherited_options(ClusterTrain))
    }
    for name in ("kuberay.yaml", "ray-cluster.yaml", "slurm.sh"):
        text = (DEPLOY / name).read_text().replace("\\\n", " ")
        for command in re.findall(r"warpzone cluster train ([^'\"$]*)", text):
            used = set(re.findall(r"--([a-z-]+)", command.partition("shutdownAfter")[0]))
            assert used <= flags, name
    services = documents("compose.yaml")[0]["services"]
    used = {word[2:] for word in services["dashboard"]["command"] if word.startswith("--")}
    assert used <= {option.flag for option in own_options(Dashboard)}
    assert isinstance(COMMANDS["cluster"], Group)


def test_the_slurm_script_is_valid_bash() -> None:
    subprocess.run(["bash", "-n", str(DEPLOY / "slurm.sh")], check=True)


@pytest.mark.skipif(shutil.which("hadolint") is None, reason="hadolint is not installed")
def test_hadolint_accepts_the_dockerfile() -> None:
    subprocess.run(["hadolint", str(DEPLOY / "Dockerfile")], check=True)
