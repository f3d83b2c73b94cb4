"""Python stubs: the service's own, and the client's copy of those that callers need.

The copy differs in its imports alone, so that either distribution works without the other, and both in one process:
their descriptors are the same bytes.
"""

from __future__ import annotations

import re
from pathlib import Path

from stubs.buf import generate

SERVICE = Path("router_service/v1")
ENVOY = Path("router_service/envoy")
CLIENT = Path("clients/python/src/router_service_client/v1")
FOLDERS = (SERVICE, ENVOY, CLIENT)

_PROTOC = ["python", "-m", "grpc_tools.protoc"]
_TEMPLATE = {
    "plugins": [
        {"protoc_builtin": "python", "protoc_path": _PROTOC, "out": "."},
        {"protoc_builtin": "pyi", "protoc_path": _PROTOC, "out": "."},
        {"local": ["python", "tools/protoc_gen_grpc_python.py"], "out": ".", "strategy": "all"},
    ]
}
# Imports, and the module that a message class says it comes from. The package in the descriptors stays as it is.
_MODULE = re.compile(r"^from router_service\.v1 import|(?<=\(DESCRIPTOR, ')router_service\.v1\.", re.MULTILINE)


def missing() -> str:
    """Nothing: what makes these stubs is in .venv."""
    return ""


def stubs() -> dict[Path, str]:
    """The modules of every package under proto/, and the client's of one of them."""
    made = generate(_TEMPLATE, protos=())
    made |= {CLIENT / path.name: for_client(text) for path, text in made.items() if path.parent == SERVICE}
    packages = {folder for path in made for folder in (path.parent, *path.parent.parents) if folder != Path()}
    return made | {folder / "__init__.py": _docstring(folder) for folder in packages if _is_generated(folder)}


def for_client(text: str) -> str:
    """The text of a stub with the modules of the client in place of the service's."""
    return _MODULE.sub(lambda match: match.group().replace("router_service.", "router_service_client."), text)


def _is_generated(folder: Path) -> bool:
    return any(folder.is_relative_to(one) for one in FOLDERS)


def _docstring(folder: Path) -> str:
    # The client's are made of the same protos, under the service's name.
    source = SERVICE if folder == CLIENT else folder
    return f'"""What protoc makes of proto/{source.as_posix()}: `make generate` writes it, and nobody edits it."""\n'
