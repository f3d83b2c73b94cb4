"""Becomes one container of a Pod: python container.py SPEC, as root, in a mount namespace of its own.

The root is read-only and holds what the image would: the system's folders, Python, the package. Volumes are where the
manifest mounts them. Then it becomes the manifest's user, without capabilities and without a way to new privileges.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

SYSTEM = ("usr", "bin", "sbin", "lib", "lib64", "proc", "dev")
_ETC = ("passwd", "group", "nsswitch.conf", "ld.so.cache", "ld.so.conf", "ssl", "localtime", "mime.types")


def mount(*arguments: str) -> None:
    """Mounts, or ends with what `mount` says."""
    subprocess.run(["/bin/mount", *arguments], check=True)


def bind(source: Path, target: Path, *, writable: bool = False) -> None:
    """Shows a folder or file at another place."""
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    mount("--rbind", str(source), str(target))
    if not writable:
        mount("-o", "remount,bind,ro", str(target))


def make_root(root: Path, spec: dict[str, Any]) -> None:
    """What the container sees as its file system."""
    mount("--make-rprivate", "/")
    mount("-t", "tmpfs", "-o", "mode=0755", "tmpfs", str(root))
    for name in SYSTEM:
        here = Path("/", name)
        if here.is_symlink():
            (root / name).symlink_to(here.readlink())
        elif here.is_dir():
            bind(here, root / name, writable=name in ("proc", "dev"))
    for name in _ETC:
        if Path("/etc", name).exists():
            bind(Path("/etc", name).resolve(), root / "etc" / name)
    for place in spec["image"]:
        bind(Path(place), root / place.lstrip("/"))
    for volume in spec["mounts"]:
        bind(Path(volume["source"]), root / volume["path"].lstrip("/"), writable=not volume["read_only"])
    mount("-o", "remount,bind,ro", str(root))


def main() -> None:
    """Never returns: it is the container's process then."""
    spec = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    root = Path(spec["root"])
    make_root(root, spec)
    for stream in (1, 2):
        os.fchown(stream, spec["user"], -1)  # as container runtimes do, so that /dev/stdout can be opened
    os.chroot(root)
    os.chdir("/")
    groups = ",".join(map(str, spec["groups"])) or None
    become = [
        f"--reuid={spec['user']}",
        f"--regid={spec['group']}",
        *([f"--groups={groups}"] if groups else ["--clear-groups"]),
        *("--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"),
    ]
    os.execve("/usr/bin/setpriv", ["setpriv", *become, *spec["command"]], spec["env"])  # noqa: S606


if __name__ == "__main__":
    main()
