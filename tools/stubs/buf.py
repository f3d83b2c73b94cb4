"""Runs `buf generate` with a template that is data here, and gives what came of it as text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
# What callers need. The service has other protos too.
CLIENT_PROTOS = ("proto/router_service/v1",)


def generate(template: dict[str, Any], protos: tuple[str, ...] = CLIENT_PROTOS) -> dict[Path, str]:
    """The files that the plugins of `template` (a buf.gen.yaml as data) make of `protos`, or of all, by their path.

    buf and python are those of this interpreter's environment. Every plugin is local.
    """
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        document = {"version": "v2", "inputs": [{"directory": "proto"}], **template}
        command = ["buf", "generate", "--template", json.dumps(document), "--output", folder]
        for path in protos:
            command += ["--path", path]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
        found = (path for path in sorted(Path(folder).rglob("*")) if path.is_file())
        return {path.relative_to(folder): path.read_text(encoding="utf-8") for path in found}
