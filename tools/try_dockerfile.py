"""Builds the Dockerfile's image in a folder and tries it, where no Docker engine is at hand.

It must answer `version`, serve until its HEALTHCHECK is content, write nothing below its root, hold what is locked and
no installer, and run as a user that is a number and not root.
"""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dockerfile import Failed, Stage, build, write_context
from sbom import sbom

SECONDS_TO_SERVE = 30
INSTALLERS = (
    "import importlib.util as u, sys; sys.exit([n for n in ('pip', 'setuptools', 'wheel') if u.find_spec(n)] or 0)"
)


def files(root: Path) -> dict[Path, int]:
    """Every file below a folder and when it was last written."""
    return {path: path.lstat().st_mtime_ns for path in root.rglob("*")}


def try_serving(image: Stage) -> None:
    """Starts the image as it starts by itself, on a port of its own, and asks what its HEALTHCHECK asks."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = [*image.said["ENTRYPOINT"], *image.said["CMD"]]
    environment = {**image.env, "ROUTER_SERVICE_LISTEN": address}
    begun = time.monotonic()
    with subprocess.Popen(image.found(command), env=environment, stderr=subprocess.PIPE) as process:
        try:
            while True:
                try:
                    image.run(image.said["HEALTHCHECK"], ROUTER_SERVICE_SERVER=address)
                except Failed:
                    if process.poll() is not None or time.monotonic() > begun + SECONDS_TO_SERVE:
                        raise
                    time.sleep(0.2)
                else:
                    break
        finally:
            process.terminate()
            said = process.communicate()[1].decode(errors="replace")
    if process.returncode:
        raise Failed(f"{' '.join(command)} ended with {process.returncode}:\n{said[-4000:]}")


def main() -> int:
    """Exit code 1 where the image cannot be built or does not do what it must."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "context").mkdir()
        try:
            write_context(folder / "context")
            image = build(folder)
            before = files(image.root)
            image.run([*image.said["ENTRYPOINT"], "version"])
            try_serving(image)
            for python in ("/usr/local/bin/python", "/opt/router-service/bin/python"):
                image.run([str(image.path(python)), "-c", INSTALLERS])
            if written := files(image.root).items() ^ before.items():
                raise Failed(f"it writes to its root: {sorted(str(path) for path, _ in written)[:5]}")
            sbom(image)
            if not re.fullmatch(r"[1-9]\d*:[1-9]\d*", image.user):
                raise Failed(f"USER {image.user}: not two numbers other than 0")
        except Failed as failure:
            print(f"the Dockerfile fails: {failure}")
            return 1
        size = sum(path.stat().st_size for path in image.path("/opt").rglob("*") if path.is_file())
        print(f"the Dockerfile's steps work; its own layer has {size / 1e6:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
