"""What a server is asked to be: the flags of `serve`, checked and read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from router_service.server.drain import GRACE_S
from router_service.server.identity.tls import TlsPaths
from router_service.server.limits import USUAL, Limits
from router_service.server.listen import Address
from router_service.server.workers.seat import Seat
from router_service.store.interface import Store

if TYPE_CHECKING:
    from router_service.server.spans import Spans


@dataclass(frozen=True, slots=True)
class Settings:
    """What `serve` was asked for."""

    catalog: Path
    addresses: tuple[Address, ...]
    admin: Address | None = None
    health: Address | None = None
    stateless: bool = False
    store: Store | None = None
    reflection: bool = True
    local_admin: bool = False
    callers: Path | None = None
    tls: TlsPaths | None = None
    audit_log: Path | None = None
    envoy_authz: bool = False
    envoy_processing: bool = False
    drain_delay_s: float = 0.0
    grace_s: float = GRACE_S
    limits: Limits = USUAL
    seat: Seat | None = None
    spans: Spans | None = None
    log_level: str = "info"
    log_format: str = "auto"
