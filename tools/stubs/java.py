"""Java stubs of the client: protoc's own Java messages and gRPC's services, with versions from the client's pom.xml.

Both generators are programs that Maven fetches once and then finds in its local repository, without a network too.
The package of the classes is set here, so that the protos name no language.
"""

from __future__ import annotations

import functools
import platform
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

from stubs.buf import ROOT, generate

CLIENT = Path("clients/java")
STUBS = CLIENT / "src/generated/java"
FOLDERS = (STUBS,)

_POM = "{http://maven.apache.org/POM/4.0.0}"
_GENERATORS = ROOT / CLIENT / "target/generators"
# By what the interpreter says of system and machine, what Maven calls the programs for them.
_CLASSIFIERS = {
    ("Linux", "x86_64"): "linux-x86_64",
    ("Linux", "aarch64"): "linux-aarch_64",
    ("Darwin", "x86_64"): "osx-x86_64",
    ("Darwin", "arm64"): "osx-aarch_64",
}


def missing() -> str:
    """Maven or a JDK, where there is none; or a machine that the generators were not built for."""
    if (platform.system(), platform.machine()) not in _CLASSIFIERS:
        return f"protoc's generators for {platform.system()} on {platform.machine()}"
    return ", ".join(tool for tool in ("mvn", "java") if shutil.which(tool) is None)


def stubs() -> dict[Path, str]:
    """A class for each message, and one for each service."""
    properties = _properties()
    protoc = _generator("com.google.protobuf", "protoc", properties["protobuf.version"])
    grpc = _generator("io.grpc", "protoc-gen-grpc-java", properties["grpc.generator.version"])
    options = {"java_package": f"{properties['base.package']}.v1", "java_multiple_files": True}
    template = {
        "managed": {
            "enabled": True,
            "override": [{"file_option": name, "value": value} for name, value in options.items()],
        },
        "plugins": [
            {"protoc_builtin": "java", "protoc_path": [str(protoc)], "out": "."},
            {"local": [str(grpc)], "out": "."},
        ],
    }
    return {STUBS / path: text for path, text in generate(template).items()}


@functools.cache
def _properties() -> dict[str, str]:
    """The properties of the client's pom.xml, where each version stands once."""
    pom = ET.parse(ROOT / CLIENT / "pom.xml").getroot()  # noqa: S314 - a file of this repository
    found = pom.find(f"{_POM}properties")
    return {one.tag.removeprefix(_POM): (one.text or "").strip() for one in found} if found is not None else {}


def _generator(group: str, name: str, version: str) -> Path:
    """A program of a Maven repository, copied to where git does not look, and made executable."""
    classifier = _CLASSIFIERS[platform.system(), platform.machine()]
    program = _GENERATORS / f"{name}-{version}-{classifier}.exe"
    if not program.exists():
        copy = f"org.apache.maven.plugins:maven-dependency-plugin:{_properties()['dependency.plugin.version']}:copy"
        artifact = f"-Dartifact={group}:{name}:{version}:exe:{classifier}"
        command = ["mvn", "-B", "-ntp", "-q", copy, artifact, f"-DoutputDirectory={_GENERATORS}"]
        subprocess.run(command, cwd=ROOT / CLIENT, check=True)
    program.chmod(0o755)
    return program
