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
HANDSHAKE_S = 5
"""Short, since gRPC counts a connection that says nothing among those that there may be, whoever's it is."""
KEEPALIVE_S, KEEPALIVE_TIMEOUT_S = 60, 20
IDLE_S = 120
AGE_S, AGE_GRACE_S = 5 * 60, 30
PROCESSING_GRACE_S = 10 * 60
"""How long streams outlive their connection's age where each waits for an LLM, whose answer is lost with it."""
STALLED_S = 30
"""How long a message may take to come."""
ARRIVING_BYTES, ARRIVING_BESIDE_BYTES = 128 * 1024 * 1024, 32 * 1024 * 1024
"""How much of messages may be on its way, each as large as the largest; and the same of health and reflection."""
ARRIVING_QUEUE = 2000
"""How many calls wait beyond that until they are read."""
STATELESS_STREAMS = 64
"""How many streams there are where each may have STATELESS_BYTES on its way, unless the operator says a number."""
PENDING, PENDING_AT_MOST = 6000, 12_000
"""How many calls wait in gRPC itself until they begin: between the two it cancels some at random, and counts none."""
HELD_BACK = 2000
"""How many refusals wait at a time for the turn of those that they are for; further ones are told at once."""
WATCHES, WATCHES_A_CONNECTION = 1000, 4
"""How many calls of health Watch may be open."""
REFLECTIONS, REFLECTIONS_A_CONNECTION = 32, 4
"""How many streams of reflection may be open; each ends where nothing is asked on it for STALLED_S."""
PROBE_BYTES = 1024
"""The greatest message to health: the name of a service."""
PROBE_S = 100e-6
"""What one of them costs, as turns count it: mostly gRPC's own work."""
PORT_CONNECTIONS = 64
"""How many connections the health port may have, and how many the admin port."""
PORT_IDLE_S = 15
"""How long one to the health port may be without a call."""
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
ARRIVING, BESIDE = "calls_arriving", "calls_beside"
LIMITS = (
    *(MESSAGE, METADATA, CALLS, CALLS_PER_CALLER, STREAMS, STREAMS_PER_CALLER, STALLED, UNSENT, ARRIVING, BESIDE),
    *(TEXT_LENGTH, LIST_LENGTH, CANDIDATES, PAGE_SIZE),
)
"""All that are counted, by the names that their metric has for them."""

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


def arriving(largest: int, held_bytes: int) -> int:
    """How many messages may be on their way, each of which may be as large as gRPC reads any."""
    return max(4, held_bytes // (largest + _MESSAGE_SLACK))


def streams(limits: Limits, *, stateless: bool) -> tuple[int, int]:
    """How many streams there may be, in all and of one caller: what of their items is on its way is bounded by them."""
    if not stateless:
        return limits.streams, limits.streams_per_caller
    most = STATELESS_STREAMS if limits.streams == USUAL.streams else limits.streams
    return most, min(limits.streams_per_caller, max(1, most // 2))


def rpcs_at_once(limits: Limits, largest: int) -> int:
    """How many calls gRPC itself begins: twice as many as all other limits leave, since what it refuses nobody counts.

    It does not know whose they are either, so whoever reached this one would shut everybody out.
    """
    waiting = arriving(largest, ARRIVING_BYTES) + arriving(largest, ARRIVING_BESIDE_BYTES) + 2 * ARRIVING_QUEUE
    return 2 * (limits.calls + limits.streams + waiting + HELD_BACK + WATCHES + REFLECTIONS)


def transport_options(
    connections: int,
    largest: int,
    *,
    shares_port: bool = False,
    age_grace_s: int = AGE_GRACE_S,
    streams_each: int = STREAMS_A_CONNECTION,
    idle_s: int = IDLE_S,
) -> tuple[tuple[str, int], ...]:
    """What gRPC itself sees to, where the greatest message of any method has so many bytes.

    `shares_port` is whether other processes may listen on the same port.
    """
    return (
        ("grpc.max_receive_message_length", largest + _MESSAGE_SLACK),
        # Between the two gRPC refuses some calls at random.
        ("grpc.max_metadata_size", METADATA_MAX),
        ("grpc.absolute_max_metadata_size", METADATA_MAX),
        ("grpc.max_allowed_incoming_connections", connections),
        ("grpc.server.max_pending_requests", PENDING),
        ("grpc.server.max_pending_requests_hard_limit", PENDING_AT_MOST),
        ("grpc.max_concurrent_streams", streams_each),
        ("grpc.server_handshake_timeout_ms", HANDSHAKE_S * 1000),
        ("grpc.keepalive_time_ms", KEEPALIVE_S * 1000),
        ("grpc.keepalive_timeout_ms", KEEPALIVE_TIMEOUT_S * 1000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.max_connection_idle_ms", idle_s * 1000),
        ("grpc.max_connection_age_ms", AGE_S * 1000),  # so that load spreads over replicas that came later
        ("grpc.max_connection_age_grace_ms", age_grace_s * 1000),
        # Windows of HTTP/2 stay small: messages are, and what may wait unread of each connection is bounded by them.
        ("grpc.http2.bdp_probe", 0),
        ("grpc.so_reuseport", int(shares_port)),  # a second server on the same port must fail, not share it
    )


def make_room_for(limits: Limits, ports: int = 0) -> int:
    """Raises the process's own limit of open files so far as it may; how many connections fit in it then.

    `ports` is how many there are beside gRPC's own addresses: those of health and admin, with their connections.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    apart = _FILES_APART + ports * PORT_CONNECTIONS
    wanted = limits.connections + apart
    if soft != resource.RLIM_INFINITY and soft < wanted:
        raised = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if soft == resource.RLIM_INFINITY:
        return limits.connections
    return max(1, min(limits.connections, soft - apart))
