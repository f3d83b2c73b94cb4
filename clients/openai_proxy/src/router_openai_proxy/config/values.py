"""What a configuration says, as frozen values; config/schema.json says what each means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Reference:
    """Where a secret is: in the environment variable `env`, or in `file`."""

    env: str = ""
    file: Path | None = None


@dataclass(frozen=True, slots=True)
class Credential:
    """Where a backend's credential is, and the header that carries it behind `prefix`."""

    secret: Reference
    header: str
    prefix: str


@dataclass(frozen=True, slots=True)
class BackendSettings:
    """Who answers for some endpoints. An empty `base_url` is each endpoint's address in the catalogue."""

    endpoints: tuple[str, ...]
    base_url: str
    plain: bool
    credential: Credential | None
    model: str
    models: Mapping[str, str]
    headers: Mapping[str, str]
    stream_usage: bool
    ca: Path | None
    keep_alive_ms: int


@dataclass(frozen=True, slots=True)
class Service:
    """The router-service; `ca` makes the connection TLS."""

    target: str
    timeout_ms: int
    token: Reference | None = None
    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """What a caller is decided under, and what it may name itself. Empty is the service's default, or none."""

    policy: str = ""
    policies: frozenset[str] = frozenset()
    workload: str = ""
    workloads: frozenset[str] = frozenset()
    deadline_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on size (bytes) and time (milliseconds)."""

    requests: int
    request_bytes: int
    answer_bytes: int
    connect_ms: int
    silence_ms: int
    stall_ms: int
    drain_ms: int
    grace_ms: int


@dataclass(frozen=True, slots=True)
class Tls:
    """The files of a certificate and its key."""

    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Config:
    """All of it. `access` is of callers that are not among `callers`."""

    host: str
    port: int
    service: Service
    backends: tuple[BackendSettings, ...]
    access: Access
    limits: Limits
    replayable: bool
    keys: Path | None = None
    tls: Tls | None = None
    callers: Mapping[str, Access] = field(default_factory=dict)
