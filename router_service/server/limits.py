"""Limits: how much callers may have under way at one server, and how large and how slow a call may be (docs/limits.md).

Those of texts, lists and candidates stand where these are read (domain/readers.py, wire/read.py).
"""

from __future__ import annotations

import contextlib
import resource
from dataclasses import dataclass

from router_service.domain.problems import CANDIDATES, LIST_LENGTH, PAGE_SIZE, TEXT_LENGTH

MESSAGE_BYTES = 16 * 1024
"""The greatest message of a method that is not named here."""
ASKING_BYTES, STATELESS_BYTES = 64 * 1024, 4 * 1024 * 1024
"""The greatest message that asks for a decision, and where requests may bring their own candidates."""
_ASKING = ("Decide", "DecideStream", "Explain")
LOG_BYTES = 256 * 1024
"""The greatest message of Envoy's access log, whose first one names every extension of that Envoy: some 64 KB."""
_OF_ENVOY = {"Check": ASKING_BYTES, "Process": ASKING_BYTES, "StreamAccessLogs": LOG_BYTES}
_MESSAGE_SLACK = 16 * 1024  # what gRPC takes beyond, so that a message a little too large gets a clear answer
METADATA_BYTES = 8 * 1024
METADATA_MAX = 16 * 1024
"""The metadata beyond which gRPC itself ends a call; up to it, it is answered that it is too much."""
STREAMS_A_CONNECTION = 100
HANDSHAKE_S = 10
KEEPALIVE_S, KEEPALIVE_TIMEOUT_S = 60, 20
IDLE_S = 120
AGE_S, AGE_GRACE_S = 5 * 60, 30
PROCESSING_GRACE_S = 10 * 60
"""How long streams outlive their connection's age where each waits for an LLM, whose answer is lost with it."""
STALLED_S = 30
"""How long a message may take to come, and an answer to be taken."""
UNSENT_BYTES, UNSENT_PER_CALLER = 128 * 1024 * 1024, 16 * 1024 * 1024
"""How much of large answers may wait to be taken, in all and by one caller; a single one may be larger."""
LATE_S = 0.5
"""How long a call waits that is refused because of the other calls of its caller."""
BUSY_PAUSE_S = 0.002
"""How long a call that does much work pauses after each of its slices while the server has no time to spare."""
LANE = 2
"""How many calls of each method that does much work are worked on at a time: Explain, ListEndpoints, ListTraces."""

# What is counted as, of limits that stand in this package; the others name themselves (Problem.limit).
MESSAGE, METADATA = "message_size", "metadata_size"
CALLS, CALLS_PER_CALLER = "calls", "calls_per_caller"
STREAMS, STREAMS_PER_CALLER = "streams", "streams_per_caller"
STALLED, UNSENT = "stalled", "unsent_bytes"
LIMITS = (
    *(MESSAGE, METADATA, CALLS, CALLS_PER_CALLER, STREAMS, STREAMS_PER_CALLER, STALLED, UNSENT),
    *(TEXT_LENGTH, LIST_LENGTH, CANDIDATES, PAGE_SIZE),
)
"""All that are counted, by the names that their metric has for them."""

_OTHER_CALLS = 500  # of health and reflection, and of those that come while all places are taken
_FILES_APART = 256  # open files that are no connections: the store, logs, the catalogue being loaded


@dataclass(frozen=True, slots=True)
class Limits:
    """Those that an operator may set, for one process."""

    connections: int = 2000
    calls: int = 2000
    calls_per_caller: int = 500
    streams: int = 2000
    streams_per_caller: int = 1000


USUAL = Limits()
"""Those of a server without flags."""


def message_bytes(method: str, *, stateless: bool) -> int:
    """The greatest message of a method that is read."""
    if method not in _ASKING:
        return _OF_ENVOY.get(method, MESSAGE_BYTES)
    return STATELESS_BYTES if stateless else ASKING_BYTES


def rpcs_at_once(limits: Limits) -> int:
    """How many calls gRPC itself begins: those whose message is still to come too, and those of other services."""
    return limits.calls + limits.streams + _OTHER_CALLS


def transport_options(
    limits: Limits, largest: int, *, shares_port: bool = False, age_grace_s: int = AGE_GRACE_S
) -> tuple[tuple[str, int], ...]:
    """What gRPC itself sees to, where the greatest message of any method has so many bytes.

    `shares_port` is whether other processes may listen on the same port.
    """
    return (
        ("grpc.max_receive_message_length", largest + _MESSAGE_SLACK),
        # Between the two gRPC refuses some calls at random.
        ("grpc.max_metadata_size", METADATA_MAX),
        ("grpc.absolute_max_metadata_size", METADATA_MAX),
        ("grpc.max_allowed_incoming_connections", limits.connections),
        ("grpc.max_concurrent_streams", STREAMS_A_CONNECTION),
        ("grpc.server_handshake_timeout_ms", HANDSHAKE_S * 1000),
        ("grpc.keepalive_time_ms", KEEPALIVE_S * 1000),
        ("grpc.keepalive_timeout_ms", KEEPALIVE_TIMEOUT_S * 1000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.max_connection_idle_ms", IDLE_S * 1000),
        ("grpc.max_connection_age_ms", AGE_S * 1000),  # so that load spreads over replicas that came later
        ("grpc.max_connection_age_grace_ms", age_grace_s * 1000),
        # Windows of HTTP/2 stay small: messages are, and what may wait unread of each connection is bounded by them.
        ("grpc.http2.bdp_probe", 0),
        ("grpc.so_reuseport", int(shares_port)),  # a second server on the same port must fail, not share it
    )


def make_room_for(limits: Limits) -> int:
    """Raises the process's own limit of open files so far as it may; how many connections fit in it then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = limits.connections + _FILES_APART
    if soft != resource.RLIM_INFINITY and soft < wanted:
        raised = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if soft == resource.RLIM_INFINITY:
        return limits.connections
    return max(1, min(limits.connections, soft - _FILES_APART))
