"""Failed calls: which are documented for what was going on, and which are violations."""

from __future__ import annotations

import grpc
from google.rpc import error_details_pb2, status_pb2

from tests.chaos.processes import Call, World

Code = grpc.StatusCode
# What a lost store may do to a call goes on until it is found again.
RECOVERY_S = 12
# How long after its cause a broken connection may be noticed.
NOTICE_S = 1
# How long a channel may take to come about again after it was cut.
RECONNECT_S = 5
_TOO_SLOW = "no answer"


def reason_of(error: grpc.aio.AioRpcError) -> str:
    """The reason of its ErrorInfo; empty where it has none, since it is not the service's own."""
    metadata = dict(error.trailing_metadata() or ())
    for detail in status_pb2.Status.FromString(metadata.get("grpc-status-details-bin", b"")).details:
        info = error_details_pb2.ErrorInfo()
        if detail.Unpack(info):
            return info.reason.removeprefix("ERROR_REASON_")
    return ""


def wrong_error(world: World, method: str, call: Call, error: grpc.aio.AioRpcError, *, stream: bool = False) -> str:
    """Why a call must not have ended so; empty where what was going on explains it."""
    code, reason = error.code(), reason_of(error)
    told = f"{method} ended with {code.name} {reason}: {error.details()}"
    store_lost = world.store_spells.touch(call.begun - RECOVERY_S, call.ended)
    if code is Code.UNAVAILABLE and reason == "STORE_LOST" and method not in ("Decide", "DecideStream"):
        if _TOO_SLOW in (error.details() or ""):
            # A call of the store is lost after a second, which a machine under such load may take.
            world.store_spells.moment()
            return ""
        return "" if store_lost else told + ", and the store was well"
    if code is Code.UNAVAILABLE and reason in ("", "DRAINING"):
        return "" if _is_gone(call, stream=stream) else told + f", of instance {call.instance.number}, which was well"
    if code is Code.NOT_FOUND and reason == "TRACE_NOT_FOUND" and method in ("Report", "GetTrace", "Explain"):
        return ""  # whoever made the call knows whether the trace must be there
    return told


def _is_gone(call: Call, *, stream: bool) -> bool:
    """Whether the instance or the connection went away while the call was under way."""
    instance = call.instance
    if instance.killed_at <= call.ended + NOTICE_S:
        return True
    if call.through_cutter and instance.cutter.cuts.touch(call.begun - RECONNECT_S, call.ended + NOTICE_S):
        return True
    # A call that began before the SIGTERM is answered; a stream ends.
    return instance.leaving_at <= (call.ended + NOTICE_S if stream else call.begun)
