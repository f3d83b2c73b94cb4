"""Why a call failed, as its status tells."""

from __future__ import annotations

from typing import Any

from google.rpc import error_details_pb2, status_pb2


def trailing(error: Any) -> dict[str, Any]:
    """The trailing metadata of a call that failed, of the sync or the asyncio API."""
    return dict(error.trailing_metadata())


def reason_of(error: Any) -> str:
    """ErrorInfo's reason of such a call."""
    status = status_pb2.Status.FromString(trailing(error)["grpc-status-details-bin"])
    info = error_details_pb2.ErrorInfo()
    assert any(detail.Unpack(info) for detail in status.details)
    return info.reason.removeprefix("ERROR_REASON_")
