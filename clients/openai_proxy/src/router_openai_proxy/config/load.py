"""Reads a configuration file: all that is wrong with it at once, or its values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from router_openai_proxy.config.checks import problems_of_meaning
from router_openai_proxy.config.form import problems_of_form, schema
from router_openai_proxy.config.marks import read
from router_openai_proxy.config.problems import BadConfig, Problem
from router_openai_proxy.config.values import (
    Access,
    BackendSettings,
    Config,
    Credential,
    Limits,
    Reference,
    Service,
    Tls,
)

Written = Mapping[str, Any]


def load(path: Path) -> Config:
    """The configuration of a file; paths in it are as seen from the file's folder. Raises BadConfig."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as wrong:
        why = wrong.strerror if isinstance(wrong, OSError) else "it is not UTF-8"
        raise BadConfig(str(path), [Problem(1, "", f"cannot be read: {why}")]) from wrong
    located = read(text)
    problems = list(problems_of_form(located))
    if isinstance(located.value, dict):
        problems += problems_of_meaning(located, path.parent)
    if problems:
        raise BadConfig(str(path), problems)
    return _config(located.value, path.parent)


def _config(written: Written, folder: Path) -> Config:
    top = schema()["properties"]
    host, _, port = written.get("listen", top["listen"]["default"]).rpartition(":")
    access = written.get("access", {})
    tls = written.get("tls")
    return Config(
        host=host.strip("[]"),
        port=int(port),
        service=_service(written.get("service", {}), folder),
        backends=tuple(_backend(one, folder) for one in written["backends"]),
        access=_access(access),
        limits=Limits(**_numbers(top["limits"], written.get("limits", {}))),
        replayable=written.get("replayable", False),
        keys=_file(folder, written.get("keys")),
        tls=None if tls is None else Tls(folder / tls["certificate"], folder / tls["key"]),
        callers={name: _access({**access, **own}) for name, own in written.get("callers", {}).items()},
    )


def _numbers(of_schema: Written, written: Written) -> dict[str, Any]:
    """What is written of the keys that have a default, and the default of the others."""
    keys = {key: one["default"] for key, one in of_schema["properties"].items() if "default" in one}
    return {key: written.get(key, default) for key, default in keys.items()}


def _file(folder: Path, name: str | None) -> Path | None:
    return None if name is None else folder / name


def _service(written: Written, folder: Path) -> Service:
    return Service(
        **_numbers(schema()["properties"]["service"], written),
        token=_reference(written["token"], folder) if "token" in written else None,
        ca=_file(folder, written.get("ca")),
        certificate=_file(folder, written.get("certificate")),
        key=_file(folder, written.get("key")),
    )


def _access(written: Written) -> Access:
    policy, workload = written.get("policy", ""), written.get("workload", "")
    return Access(
        policy=policy,
        policies=frozenset([*written.get("policies", ()), policy]) - {""},
        workload=workload,
        workloads=frozenset([*written.get("workloads", ()), workload]) - {""},
        deadline_ms=written.get("deadline_ms"),
    )


def _backend(written: Written, folder: Path) -> BackendSettings:
    defaults = _numbers(schema()["properties"]["backends"]["items"], written)
    return BackendSettings(
        endpoints=tuple(written["endpoints"]),
        base_url=written.get("base_url", "").rstrip("/"),
        plain=defaults["plain"],
        credential=_credential(written["credential"], folder) if "credential" in written else None,
        model=written.get("model", ""),
        models=written.get("models", {}),
        headers=written.get("headers", {}),
        stream_usage=defaults["stream_usage"],
        ca=_file(folder, written.get("ca")),
        keep_alive_ms=defaults["keep_alive_ms"],
    )


def _credential(written: Written, folder: Path) -> Credential:
    header = written.get("header", "Authorization")
    prefix = written.get("prefix", "Bearer " if header.lower() == "authorization" else "")
    return Credential(_reference(written, folder), header, prefix)


def _reference(written: Written, folder: Path) -> Reference:
    return Reference(written.get("env", ""), _file(folder, written.get("file")))
