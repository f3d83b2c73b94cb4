"""The work of a check, counted in bytecodes from Envoy's bytes to the answer's: hardly more than that of a Decide."""

from __future__ import annotations

import uuid
from functools import partial

from google.protobuf.struct_pb2 import Struct

from benchmarks.inprocess import door, envoy_door
from router_service.envoy.v1 import authorization_pb2 as auth
from router_service.envoy.v1.http_pb2 import Metadata
from tests.test_work_per_decide import bytecodes, message, snapshot

SIZE = 500
MOST = 1.15
"""Times the bytecodes of a Decide that asks the same."""
HEADERS = {
    "x-router-task": "coding",
    "x-router-language": "de",
    "x-router-tools": "true",
    "x-router-input-tokens": "1200",
    "x-router-output-tokens": "400",
}


def checked(clusters: str) -> bytes:
    """A request as Envoy tells of it, with an id of its own."""
    body = Struct()
    body.update({"model": "auto"})
    headers = HEADERS | {"x-request-id": str(uuid.uuid4())}
    return auth.CheckRequest(
        attributes=auth.Attributes(
            request=auth.Request(http=auth.HttpRequest(headers=headers)),
            context_extensions={"clusters": clusters},
            metadata_context=Metadata(filter_metadata={"llm.req": body}),
        )
    ).SerializeToString()


def test_a_check_takes_hardly_more_than_a_decide() -> None:
    served = snapshot(SIZE)
    clusters = ",".join(one.endpoint_id for one in served.recorded.endpoints)
    check, decide = envoy_door(served), door(served)
    asked = message({"input_tokens": 1200})
    for _ in range(5):
        answer = auth.CheckResponse.FromString(check(checked(clusters)))
        assert (answer.status.code, len(answer.dynamic_metadata["priority_groups"])) == (0, 3)
        decide(asked)
    work, floor = bytecodes(partial(check, checked(clusters))), bytecodes(partial(decide, asked))
    assert work <= MOST * floor, (work, floor)
