"""Runs the Pods of a manifest as a node would, as processes in namespaces of their own; needs root, and no cluster.

A Pod has a network of its own, each container a read-only root, the manifest's user, groups and environment, and its
volumes, ConfigMaps and Secrets written by switching a link. gRPC probes are asked by the real grpc-health-probe from
within the Pod's network. What is not done as a node does it: seccomp, limits of resources, and process 1.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.kubernetes import ROOT, Manifest, containers, template, tool

PATIENCE_S = 60
# What images run, by their names, where the manifest names no command. Of others there is nothing to run.
IMAGES = {"router-service": ["router-service"], "envoyproxy/envoy": ["envoy"]}
_HERE = Path(__file__).resolve().parent
# The network's loopback is down in the beginning. It ends with its standard input, so with the tests.
_NETWORK = """
import fcntl, socket, struct, sys
with socket.socket() as one:
    fcntl.ioctl(one, 0x8914, struct.pack("16sh", b"lo", 1))
print("up", flush=True)
sys.stdin.read()
"""


def need_namespaces() -> None:
    """In CI it is a failure where Pods cannot be run, elsewhere these tests are skipped."""
    unshare, *others = map(shutil.which, ("unshare", "nsenter", "setpriv"))
    able = unshare is not None and all(others) and os.geteuid() == 0
    able = able and subprocess.run([str(unshare), "--mount", "--net", "true"], check=False).returncode == 0
    if not able:
        if os.environ.get("CI"):
            pytest.fail("Pods are run in namespaces, which needs root and util-linux")
        pytest.skip("Pods are run in namespaces, which needs root and util-linux")


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Writes a ConfigMap or Secret into its volume, in one step, as a node does it."""
    version = f"..{time.time_ns()}"
    (folder / version).mkdir()
    for name, text in files.items():
        (folder / version / name).write_text(text)
    (folder / "..data_tmp").symlink_to(version)
    (folder / "..data_tmp").replace(folder / "..data")
    for name in files:
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(Path("..data", name))


@dataclass
class Pod:
    """The first Pod of a workload. `files` are ConfigMaps and Secrets by name, `claims` the folders of volumes."""

    workload: Manifest
    folder: Path
    files: dict[str, dict[str, str]]
    claims: dict[str, Path] = field(default_factory=dict)
    extra: tuple[Path, ...] = ()
    _running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.spec: dict[str, Any] = template(self.workload)["spec"]
        self.folder.chmod(0o755)
        self._volumes = {one["name"]: self._volume(one) for one in self.spec["volumes"]}

    def _volume(self, volume: Manifest) -> Path:
        folder = self.folder / f"volume-{volume['name']}"
        if claim := volume.get("persistentVolumeClaim"):
            folder = self.claims[claim["claimName"]]
        folder.mkdir(exist_ok=True)
        group = self.spec["securityContext"].get("fsGroup", 0)
        if name := volume.get("configMap", {}).get("name") or volume.get("secret", {}).get("secretName"):
            write_files(folder, self.files[name])
            folder.chmod(0o755)
        else:
            os.chown(folder, 0, group)
            folder.chmod(0o2777 if "emptyDir" in volume else 0o2775)
        return folder

    def update(self, volume: str, files: Mapping[str, str]) -> None:
        """A change of a ConfigMap or Secret reaches the Pod."""
        write_files(self._volumes[volume], files)

    @contextlib.contextmanager
    def running(self) -> Iterator[Pod]:
        """Starts the containers in their order, and ends what is left of them."""
        command = ["unshare", "--net", sys.executable, "-c", _NETWORK]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as self._network:
            assert self._network.stdout is not None
            assert self._network.stdin is not None
            try:
                assert self._network.stdout.readline() == b"up\n"
                for container in containers(self.workload):
                    if container["image"].partition(":")[0] in IMAGES:
                        self.start(container)
                        self.wait_for("startupProbe", container)
                yield self
            finally:
                for process in self._running.values():
                    process.kill()
                    process.wait()
                self._network.stdin.close()

    def start(self, container: Manifest) -> subprocess.Popen[bytes]:
        """A container as the image and the manifest make it: the image's entry point and the manifest's arguments."""
        command = [*container.get("command", IMAGES[container["image"].partition(":")[0]]), *container["args"]]
        with (self.folder / f"{container['name']}.log").open("ab") as log:
            process = self.run(container, command, stdout=log, stderr=subprocess.STDOUT)
        self._running[container["name"]] = process
        return process

    def run(self, container: Manifest, command: list[str], **streams: Any) -> subprocess.Popen[bytes]:
        """Any command as a process of a container."""
        spec = self.folder / f"{container['name']}-{time.time_ns()}.json"
        root = spec.with_suffix("")
        root.mkdir()
        security = self.spec["securityContext"] | container["securityContext"]
        spec.write_text(
            json.dumps(
                {
                    "root": str(root),
                    "image": [sys.base_prefix, sys.prefix, str(ROOT)],
                    "mounts": [*self._mounts(container)],
                    "user": security["runAsUser"],
                    "group": security["runAsGroup"],
                    "groups": [security["fsGroup"]] if "fsGroup" in security else [],
                    "command": command,
                    "env": self._environment(container),
                }
            )
        )
        network = f"--net=/proc/{self._network.pid}/ns/net"
        become = ["nsenter", network, "unshare", "--mount", sys.executable, str(_HERE / "container.py"), str(spec)]
        return subprocess.Popen(become, **streams)

    def _mounts(self, container: Manifest) -> Iterator[dict[str, Any]]:
        for one in container["volumeMounts"]:
            source, path = str(self._volumes[one["name"]]), one["mountPath"]
            yield {"source": source, "path": path, "read_only": one.get("readOnly", False)}
        for folder in self.extra:
            yield {"source": str(folder), "path": str(folder), "read_only": False}

    def _environment(self, container: Manifest) -> dict[str, str]:
        found = {
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "PYTHONDONTWRITEBYTECODE": "1",
            "ROUTER_SERVICE_STORE": "none",  # as the image has it
        }
        for one in container.get("env", ()):
            reference = one.get("valueFrom", {}).get("secretKeyRef", {})
            found[one["name"]] = one["value"] if "value" in one else self.files[reference["name"]][reference["key"]]
        return found

    def probe(self, name: str, container: Manifest) -> int:
        """What the real probe says: 0 where it is content, 2 where nobody answers, 4 where the answer is no."""
        command = ["nsenter", f"--net=/proc/{self._network.pid}/ns/net"]
        if asked := container[name].get("grpc"):
            address = f"-addr=127.0.0.1:{asked['port']}"
            command += [tool("grpc-health-probe"), address, f"-service={asked.get('service', '')}"]
        else:
            wanted = container[name]["tcpSocket"]["port"]
            (port,) = [one["containerPort"] for one in container["ports"] if wanted == one["name"]]
            command += [sys.executable, "-c", f"import socket; socket.create_connection(('127.0.0.1', {port}))"]
        return subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False).returncode

    def wait_for(self, name: str, container: Manifest, wanted: int = 0) -> None:
        """Until a probe says so; fails where it does not, or the container ended."""
        deadline = time.monotonic() + PATIENCE_S
        while (said := self.probe(name, container)) != wanted:
            ended = self._running[container["name"]].poll()
            state = f"{name}: {said}, ended: {ended}\n{self.log()[-4000:]}"
            assert ended is None, state
            assert time.monotonic() < deadline, state
            time.sleep(0.05)

    def end(self, name: str) -> int:
        """SIGTERM, and the exit code; fails where it takes longer than the Pod has."""
        process = self._running[name]
        process.send_signal(signal.SIGTERM)
        return process.wait(self.spec["terminationGracePeriodSeconds"])

    def ask(self, container: Manifest, *command: str) -> subprocess.CompletedProcess[str]:
        """What a command in a container says."""
        with self.run(container, [*command], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            out, err = process.communicate(timeout=PATIENCE_S)
        return subprocess.CompletedProcess(command, process.returncode, out.decode(), err.decode())

    def log(self) -> str:
        """What all containers wrote."""
        return "".join(one.read_text() for one in sorted(self.folder.glob("*.log")))
