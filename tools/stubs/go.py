"""Go stubs: the client's copy, in the module path that clients/go/go.mod names."""

from __future__ import annotations

import shutil
from pathlib import Path

from stubs.buf import CLIENT_PROTOS, ROOT, generate

CLIENT = Path("clients/go")
STUBS = CLIENT / "v1"
FOLDERS = (STUBS,)

_PACKAGE = "routerservicev1"
# The plugins are pinned by clients/go/tools/go.mod; Go builds them once, into its own cache.
_PLUGIN = ["go", "tool", "-C", str(CLIENT / "tools")]


def missing() -> str:
    """Go, where it is not here."""
    return "" if shutil.which("go") else "go"


def stubs() -> dict[Path, str]:
    """The messages and the stubs of the package that callers need."""
    lines = (ROOT / CLIENT / "go.mod").read_text("utf-8").splitlines()
    (module,) = (line.removeprefix("module ") for line in lines if line.startswith("module "))
    # The protos name no package of Go's: each is told where it goes, so that their descriptors stay as they are.
    protos = sorted(path for folder in CLIENT_PROTOS for path in (ROOT / folder).glob("*.proto"))
    options = [f"module={module}"]
    options += [f"M{one.relative_to(ROOT / 'proto')}={module}/v1;{_PACKAGE}" for one in protos]
    names = ("protoc-gen-go", "protoc-gen-go-grpc")
    plugins = [{"local": [*_PLUGIN, name], "out": ".", "opt": options} for name in names]
    return {CLIENT / path: text for path, text in generate({"plugins": plugins}).items()}
