"""Writes dist/sbom.cdx.json, the image's bill of materials in CycloneDX, of what the Dockerfile makes."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from dockerfile import ROOT, Failed, Stage, build, write_context
from licences import licence
from lock import LOCK, pins

TARGET = ROOT / "dist" / "sbom.cdx.json"


def sbom(image: Stage) -> dict[str, Any]:
    """The document, valid by its schema. Raises Failed where it is not of the locked packages."""
    tool = ROOT / ".venv" / "supply" / "bin" / "cyclonedx-py"
    options = ["--output-reproducible", "--pyproject", str(ROOT / "pyproject.toml"), "--validate"]
    command = [str(tool), "environment", *options, str(image.path("/opt/router-service"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"cyclonedx-py: {done.stderr[-2000:]}")
    document: dict[str, Any] = json.loads(done.stdout)
    found = {(canonicalize_name(one["name"]), one["version"]): one for one in document["components"]}
    locked = {(name, pin.version) for name, pin in pins(LOCK.read_text("utf-8")).items() if pin.in_image}
    if found.keys() != locked:
        raise Failed(f"the image does not hold what is locked: {sorted(found.keys() ^ locked)}")
    for (name, _), one in found.items():
        if not one.get("licenses"):  # where the metadata says it in words of its own
            one["licenses"] = [{"license": {"acknowledgement": "concluded", "id": licence(name)}}]
    document["metadata"]["component"]["version"] = _version(image)
    return document


def _version(image: Stage) -> str:
    """The service's own, which the tool does not read where pyproject.toml has it from the code."""
    python = str(image.path("/opt/router-service/bin/python"))
    told = [python, "-c", "import router_service; print(router_service.__version__)"]
    return subprocess.run(told, capture_output=True, text=True, check=True).stdout.strip()


def main() -> int:
    """Exit code 1 where the image cannot be built, or holds other than what is locked."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "context").mkdir()
        try:
            write_context(folder / "context")
            document = sbom(build(folder))
        except Failed as failure:
            print(failure)
            return 1
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    print(f"wrote {TARGET.relative_to(ROOT)}: {len(document['components'])} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
