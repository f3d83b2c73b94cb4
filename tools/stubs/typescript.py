"""TypeScript stubs: ts-proto's plain interfaces, and clients and service definitions for @grpc/grpc-js."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from stubs.buf import ROOT, generate

CLIENT = Path("clients/typescript")
GENERATED = CLIENT / "src/generated"
FOLDERS = (GENERATED,)

# package-lock.json pins the plugin.
_INSTALL = ["node", "scripts/install.mjs"]
_PLUGIN = CLIENT / "node_modules/.bin/protoc-gen-ts_proto"
_TEMPLATE = {
    "plugins": [
        {
            "local": [str(_PLUGIN)],
            "out": ".",
            "strategy": "all",
            # Not only router_service.v1: it uses google.protobuf's Timestamp and Duration.
            "include_imports": True,
            "include_wkt": True,
            "opt": [
                "env=node",
                "importSuffix=.js",
                "esModuleInterop=true",
                "outputServices=grpc-js",
                "outputJsonMethods=false",
                "exportCommonSymbols=false",
                "forceLong=number",
                "stringEnums=true",
                "enumsAsLiterals=true",
                "unrecognizedEnum=false",
                "annotateFilesWithVersion=false",
            ],
        }
    ]
}


def missing() -> str:
    """Node with npm, where they are not here."""
    return ", ".join(one for one in ("node", "npm") if shutil.which(one) is None)


def stubs() -> dict[Path, str]:
    """The modules of router_service.v1 and of what it imports."""
    subprocess.run(_INSTALL, cwd=ROOT / CLIENT, check=True)
    return {GENERATED / path: text for path, text in generate(_TEMPLATE).items()}
