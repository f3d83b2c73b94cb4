"""Keyword arguments are the fields of the wire, and both copies of the stubs live in one process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from router_service_client import RouteFields, RouteRequest
from router_service_client.messages import route_request

TOGETHER = """
import {first}.v1.router_service_pb2_grpc, {second}.v1.router_service_pb2_grpc
from router_service.v1.route_pb2 import RouteRequest as Served
from router_service_client.v1.route_pb2 import RouteRequest as Asked
assert Served.FromString(Asked(model="a", input_tokens=0).SerializeToString()) == Served(model="a", input_tokens=0)
"""


def test_the_keywords_are_the_fields_of_the_wire() -> None:
    assert set(RouteFields.__annotations__) == set(RouteRequest.DESCRIPTOR.fields_by_name)


def test_zero_is_given_and_none_is_not() -> None:
    request = route_request(None, {"input_tokens": 0, "output_tokens": None})
    assert request.HasField("input_tokens")
    assert not request.HasField("output_tokens")


def test_a_list_replaces_the_list_of_the_request_which_stays_as_it_was() -> None:
    given = RouteRequest(regions=["DE"], modalities=["text"])
    assert route_request(given, {"regions": ["FR"]}) == RouteRequest(regions=["FR"], modalities=["text"])
    assert given == RouteRequest(regions=["DE"], modalities=["text"])


@pytest.mark.parametrize(
    ("first", "second"), [("router_service", "router_service_client"), ("router_service_client", "router_service")]
)
def test_both_distributions_work_in_one_process(first: str, second: str) -> None:
    subprocess.run(
        [sys.executable, "-W", "error", "-c", TOGETHER.format(first=first, second=second)], check=True, timeout=60
    )
