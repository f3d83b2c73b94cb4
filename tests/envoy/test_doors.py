"""Envoy's doors by themselves: which are open, what is read of a request, and what a message that is none gets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.struct_pb2 import Struct
from grpc_health.v1 import health_pb2, health_pb2_grpc

from router_service.envoy.v1 import authorization_pb2 as auth
from router_service.envoy.v1 import http_pb2
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.trace_pb2 import Trace
from tests.envoy.doors import ALL, CHECK, LOGS, PROCESS, SERVICES
from tests.server.conftest import ServerProcess
from tests.store.redis_server import free_port


def request(
    headers: Mapping[str, str] | None = None, context: Mapping[str, str] | None = None, **body: Any
) -> auth.CheckRequest:
    """A request as Envoy tells of it; `body` is what json_to_metadata found."""
    left = Struct()
    left.update(body)
    return auth.CheckRequest(
        attributes=auth.Attributes(
            request=auth.Request(http=auth.HttpRequest(headers=headers or {})),
            context_extensions={"clusters": ALL} if context is None else context,
            metadata_context=http_pb2.Metadata(filter_metadata={"llm.req": left} if body else {}),
        )
    )


def check(server: ServerProcess, message: auth.CheckRequest) -> auth.CheckResponse:
    call = server.channel().unary_unary(CHECK, auth.CheckRequest.SerializeToString, auth.CheckResponse.FromString)
    answer: auth.CheckResponse = call(message, timeout=30)
    return answer


def order(answer: auth.CheckResponse) -> list[str]:
    """The clusters to try."""
    assert answer.status.code == 0
    groups: Any = answer.dynamic_metadata["priority_groups"]
    for group in groups:
        assert [(one["cluster_name"], one["weight"]) for one in group["clusters"]] == [(group["name"], 1)]
    return [group["name"] for group in groups]


def trace_of(server: ServerProcess, answer: auth.CheckResponse) -> Trace:
    trace: Trace = server.router.GetTrace(pb.GetTraceRequest(trace_id=answer.dynamic_metadata["trace_id"])).trace
    return trace


def headers_of(headers: Any) -> dict[str, str]:
    assert {one.append_action for one in headers} == {http_pb2.APPEND_ACTION_OVERWRITE}
    return {one.header.key: one.header.value for one in headers}


def denied(answer: auth.CheckResponse) -> tuple[int, str]:
    """(HTTP status, body) of a request that ends."""
    assert answer.status.code == grpc.StatusCode.PERMISSION_DENIED.value[0]
    return answer.denied_response.status.code, answer.denied_response.body


def test_the_doors_are_shut_unless_they_are_opened(server: ServerProcess) -> None:
    shut = ServerProcess("--listen", "127.0.0.1:0")
    try:
        _hold_shut(shut, server)
    finally:
        shut.stop()


def _hold_shut(shut: ServerProcess, server: ServerProcess) -> None:
    for channel, status in ((shut.channel(), None), (server.channel(), health_pb2.HealthCheckResponse.SERVING)):
        health = health_pb2_grpc.HealthStub(channel)
        for service in SERVICES:
            asked = health_pb2.HealthCheckRequest(service=service)
            if status is not None:
                assert health.Check(asked).status == status
                continue
            with pytest.raises(grpc.RpcError) as unknown:
                health.Check(asked)
            assert unknown.value.code() == grpc.StatusCode.NOT_FOUND
    with pytest.raises(grpc.RpcError) as missing:
        check(shut, request())
    assert missing.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_a_decision_is_an_order_of_clusters_with_its_bounds(server: ServerProcess) -> None:
    answer = check(server, request({"x-router-deadline-ms": "8000", "x-request-id": "req-1"}))
    assert order(answer) == ["a", "b"]
    told = headers_of(answer.ok_response.headers)
    trace = trace_of(server, answer)
    assert told["x-envoy-max-retries"] == "1"
    assert told["x-envoy-upstream-rq-per-try-timeout-ms"] == str(trace.decision.candidates[0].allowance_ms)
    assert told["x-router-trace-id"] == trace.trace_id
    assert told["x-router-reason"] == trace.decision.sentence
    response = headers_of(answer.ok_response.response_headers_to_add)
    assert response == {name: told[name] for name in ("x-router-trace-id", "x-router-reason")}
    assert trace.operation_id == "req-1"


def test_without_a_deadline_a_time_out_of_the_clients_own_is_taken_off(server: ServerProcess) -> None:
    answer = check(server, request())
    assert "x-envoy-upstream-rq-per-try-timeout-ms" not in headers_of(answer.ok_response.headers)
    assert list(answer.ok_response.headers_to_remove) == ["x-envoy-upstream-rq-per-try-timeout-ms"]


def test_every_header_reaches_its_field(server: ServerProcess) -> None:
    headers = {
        "x-router-model": "M",
        "x-router-task": "coding",
        "x-router-language": "de-AT",
        "x-router-residency": "any",
        "x-router-regions": "FR, DE",
        "x-router-input-tokens": "10",
        "x-router-output-tokens": "20",
        "x-router-modalities": "text",
        "x-router-tools": "false",
        "x-router-structured-output": "none",
        "x-router-max-price": "9.5",
        "x-router-max-cost": "0.25",
        "x-router-deadline-ms": "9000",
        "x-router-data-class": "Public",
        "x-router-trace-id": "of another proxy",
        "user-agent": "nobody reads it",
    }
    trace = trace_of(server, check(server, request(headers, model="other")))
    asked = trace.request
    assert (asked.model, asked.task, asked.language, asked.residency) == ("m", "coding", "de", "any")
    assert list(asked.regions) == ["FR", "DE"]
    assert (asked.input_tokens, asked.output_tokens, asked.deadline_ms) == (10, 20, 9000)
    assert (asked.max_price, asked.max_cost, trace.data_class) == (9.5, 0.25, "public")


def test_the_context_goes_before_headers_and_headers_before_the_body(server: ServerProcess) -> None:
    context = {"clusters": ALL, "model": "m", "residency": "eu-owned", "policy": "eu", "data-class": "internal"}
    headers = {"x-router-model": "nn", "x-router-residency": "any", "x-router-data-class": "public"}
    trace = trace_of(server, check(server, request(headers, context, model="zz")))
    assert (trace.request.model, trace.request.residency, trace.data_class) == ("m", "eu-owned", "internal")
    assert order(check(server, request({"x-router-model": "m"}, model="zz"))) == ["a", "b"]
    assert order(check(server, request(model="m"))) == ["a", "b"]


def test_a_client_names_a_policy_only_where_the_context_lists_it(server: ServerProcess) -> None:
    named = {"x-router-policy": "world"}
    assert order(check(server, request(named, {"clusters": ALL, "policies": "daily, world"}))) == ["a", "b", "far"]
    for context in ({"clusters": ALL}, {"clusters": ALL, "policy": "eu"}, {"clusters": ALL, "policies": "daily"}):
        status, body = denied(check(server, request(named, context)))
        assert status == 403
        assert "x-router-policy" in body
    own = {"x-router-policy": "eu"}
    assert order(check(server, request(own, {"clusters": ALL, "policy": "eu"}))) == ["a", "b"]
    default = check(server, request(None, {"clusters": ALL, "policy": "world", "policies": "eu"}))
    assert trace_of(server, default).policy_id == "world"


def test_a_client_names_a_workload_only_where_the_context_lists_it(server: ServerProcess) -> None:
    context = {"clusters": ALL, "workloads": "chat@1"}
    trace = trace_of(server, check(server, request({"x-router-workload": "chat@1"}, context)))
    assert (trace.workload, trace.request.task) == ("chat@1", "coding")
    for other in ("chat", "chat@2"):
        assert denied(check(server, request({"x-router-workload": other}, context)))[0] == 403
    own = trace_of(server, check(server, request(None, {"clusters": ALL, "workload": "chat"})))
    assert own.workload == "chat@2"


def test_raw_headers_are_read_and_repeated_ones_joined(server: ServerProcess) -> None:
    message = request()
    for name, value in (("x-router-regions", b"FR"), ("x-router-regions", b"US"), ("x-request-id", b"raw")):
        message.attributes.request.http.header_map.headers.add(key=name, raw_value=value)
    trace = trace_of(server, check(server, message))
    assert (list(trace.request.regions), trace.operation_id) == (["FR", "US"], "raw")
    message.attributes.request.http.header_map.headers.add(key="x-router-task", raw_value=b"\xff")
    status, body = denied(check(server, message))
    assert status == 400
    assert "x-router-task" in body


@pytest.mark.parametrize(
    ("context", "told"),
    [
        ({}, "context_extensions.clusters: missing"),
        ({"clusters": "a,,b"}, "context_extensions.clusters[1]: empty entry"),
        ({"clusters": "a", "cluster": "b"}, "context_extensions.cluster: unknown field; did you mean clusters?"),
        ({"clusters": "a", "residency": "mars"}, 'context_extensions.residency: unknown word \\"mars\\"'),
        ({"clusters": "a", "workload": "Chat!"}, "context_extensions.workload"),
        ({"clusters": "a", "policy": "none-such"}, 'no policy \\"none-such\\"'),
    ],
)
def test_a_context_that_makes_no_sense_is_the_operators_and_ends_the_request(
    server: ServerProcess, context: dict[str, str], told: str
) -> None:
    status, body = denied(check(server, request({"x-router-input-tokens": "1"}, context)))
    assert status in (404, 500)
    assert told in body
    assert headers_of(check(server, request(None, context)).denied_response.headers)["x-should-retry"] == "false"


def test_clusters_that_envoy_lacks_are_left_out_and_those_that_nobody_knows_do_not_matter(
    server: ServerProcess,
) -> None:
    answer = check(server, request(None, {"clusters": "b,gone"}))
    assert order(answer) == ["b"]
    assert list(trace_of(server, answer).request.exclude_endpoints) == ["a"]
    # What the policy does not admit is not in the list of what was left out.
    assert not trace_of(server, check(server, request(None, {"clusters": "a,b"}))).request.exclude_endpoints
    status, body = denied(check(server, request(None, {"clusters": "gone"})))
    assert (status, "all_candidates_excluded" in body) == (503, True)


def test_a_budget_is_reserved_as_for_any_caller(server: ServerProcess) -> None:
    context = {"clusters": ALL, "policy": "daily"}
    headers = {"x-router-input-tokens": "1000", "x-router-output-tokens": "1000"}
    assert order(check(server, request(headers, context))) == ["a", "b"]


@pytest.mark.parametrize("method", [PROCESS, LOGS])
def test_bytes_that_are_no_message_are_invalid_argument(server: ServerProcess, method: str) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        list(server.channel().stream_stream(method)(iter([b"\xff\xff"]), timeout=30))
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT


def test_a_check_that_is_no_message_ends_the_request(server: ServerProcess) -> None:
    call: Any = server.channel().unary_unary(CHECK, response_deserializer=auth.CheckResponse.FromString)
    status, body = denied(call(b"\xff\xff", timeout=30))
    assert (status, "no CheckRequest" in body) == (400, True)


def test_requests_that_differ_in_their_ids_alone_are_told_apart(server: ServerProcess) -> None:
    headers = {"x-router-task": "coding"}
    for request_id in ("one", "two", "", "three", "é", "x" * 200):
        answer = check(server, request(headers | ({"x-request-id": request_id} if request_id else {})))
        assert trace_of(server, answer).operation_id == request_id
    assert denied(check(server, request(headers | {"x-request-id": "x" * 257})))[0] == 400
    other = trace_of(server, check(server, request(headers, {"clusters": "b"})))
    assert [one.endpoint_id for one in other.decision.candidates] == ["b"]
    assert trace_of(server, check(server, request(headers, model="m"))).request.model == "m"
    assert trace_of(server, check(server, request({"x-router-task": "rag"}))).request.task == "rag"


def test_without_its_first_catalogue_a_check_fails_so_that_another_instance_is_asked(tmp_path: Path) -> None:
    """A denial would be final. The catalogue takes longer to load than the next question to come."""
    entry = "- {{endpoint_id: m@{0}, model: m, provider: p{0}, country: FR, sovereignty: eu-owned}}\n".format
    head = "currency: EUR\ndefault_policy: eu\npolicies: [{policy_id: eu}]\nmodels: [{model: m}]\nendpoints:\n"
    (tmp_path / "catalog.yaml").write_text(head + "".join(map(entry, range(10_000))))
    port = free_port()
    starting = ServerProcess("--listen", f"127.0.0.1:{port}", "--catalog", str(tmp_path), "--envoy-authz")
    asked = request(None, {"clusters": "m@1"})
    told: list[tuple[grpc.StatusCode, str]] = []
    try:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            ask = channel.unary_unary(CHECK, auth.CheckRequest.SerializeToString, auth.CheckResponse.FromString)
            while not told or told[-1][0] != grpc.StatusCode.OK:
                try:
                    answer = ask(asked, timeout=60, wait_for_ready=True)
                    told.append((grpc.StatusCode.OK, ",".join(order(answer))))
                except grpc.RpcError as error:
                    told.append((error.code(), error.details()))
    finally:
        starting.stop()
    assert told[-1][1] == "m@1"
    refused = set(told[:-1])
    assert {code for code, _ in refused} == {grpc.StatusCode.UNAVAILABLE}
    assert any("no catalogue has been loaded yet" in details for _, details in refused)
