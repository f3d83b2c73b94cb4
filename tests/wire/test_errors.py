"""Statuses: every kind has its code and its reason, and any number of problems fits what clients take."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest
from google.rpc import error_details_pb2

from router_service import asks
from router_service.domain.problems import Problem
from router_service.wire.errors import item_error, status_of

METADATA_MAX = 8192 - 512  # what gRPC's clients take, less what other headers need
ERRORS = {
    "INVALID_REQUEST": (3, asks.InvalidRequest([Problem("a", "is wrong", "cure it")])),
    "NO_DEFAULT_POLICY": (3, asks.NoDefaultPolicy()),
    "POLICY_NOT_FOUND": (5, asks.PolicyNotFound("p")),
    "WORKLOAD_NOT_FOUND": (5, asks.WorkloadNotFound("w@1")),
    "STATELESS_MODE_OFF": (7, asks.StatelessModeOff()),
    "CATALOG_NOT_LOADED": (14, asks.CatalogNotLoaded()),
    "TRACE_NOT_FOUND": (5, asks.TraceNotFound("0" * 32)),
    "ENDPOINT_NOT_LISTED": (3, asks.EndpointNotListed([Problem("a", "is outside", "cure it")])),
    "STORE_LOST": (14, asks.StoreUnavailable()),
    "NO_STORE": (14, asks.NoStore()),
}


def details(error: asks.Unanswerable) -> tuple[error_details_pb2.ErrorInfo, error_details_pb2.BadRequest]:
    info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    for detail in status_of(error).details:
        assert detail.Unpack(info) or detail.Unpack(bad)
    return info, bad


@pytest.mark.parametrize("reason", ERRORS)
def test_every_kind_has_its_code_and_its_reason(reason: str) -> None:
    code, error = ERRORS[reason]
    info, bad = details(error)
    assert (status_of(error).code, item_error(error).code) == (code, code)
    assert (info.reason, info.domain) == (f"ERROR_REASON_{reason}", "router_service.v1")
    assert status_of(error).message == item_error(error).message == str(error)
    fields = [one.field for one in bad.field_violations]
    assert fields == [one.field for one in item_error(error).violations] == [one.field for one in _problems(error)]


def _problems(error: asks.Unanswerable) -> list[Problem]:
    return list(getattr(error, "problems", ()))


@pytest.mark.parametrize("letter", ["x", "é", "€", "🙂", "\x07"])
@pytest.mark.parametrize("count", [1, 10, 100, 5000])
def test_any_number_of_problems_fits_a_status(count: int, letter: str) -> None:
    error = asks.InvalidRequest(Problem(f"field[{one}]", letter * 60, "cure it") for one in range(count))
    status = status_of(error)
    takes = len(base64.b64encode(status.SerializeToString())) + len(quote(status.message, safe=" "))
    assert takes <= METADATA_MAX
    named = details(error)[1].field_violations
    assert named[0].field == "field[0]"
    if count == 5000:
        assert named[-1].description == f"{count - len(named) + 1} more problems, which do not fit in a status"
        assert named[-1].field == ""
