"""Several workers with TLS and callers, and on a shared Redis: what one knows or is told, all are."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import grpc
import pytest

from router_service.v1 import router_service_pb2 as pb
from router_service.v1.router_service_pb2_grpc import RouterServiceStub
from tests.callers.files import entry, token_of, written
from tests.server.identity.certificates import Authority
from tests.server.instance import Instance, Serve, decide, until
from tests.store.redis_server import RedisServer

AUTHORITY = Authority()
CALLERS = "callers:\n- {caller: gateway, sans: [gateway.internal], roles: [decide], policies: [eu]}\n"
LATER = "- {caller: later, roles: [decide], policies: [eu]}\n"


class Visitor:
    """Somebody who connects anew for each call, so that it may reach any worker."""

    def __init__(self, target: str, token: str = "", *, certificate: str = "") -> None:
        self._target = target
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()
        mine = AUTHORITY.issue(certificate) if certificate else None
        pair = (mine.key, mine.cert) if mine else (None, None)
        self._credentials = grpc.ssl_channel_credentials(AUTHORITY.pem, *pair)

    def code(self) -> grpc.StatusCode:
        """How a decision ends."""
        options = [("grpc.use_local_subchannel_pool", 1)]
        with grpc.secure_channel(self._target, self._credentials, options) as channel:
            try:
                RouterServiceStub(channel).Decide(pb.DecideRequest(), metadata=self._metadata, timeout=20)
            except grpc.RpcError as error:
                code: grpc.StatusCode = error.code()
                return code
        return grpc.StatusCode.OK

    def codes(self) -> set[grpc.StatusCode]:
        """The same of a dozen connections, which a system spreads over two workers."""
        return {self.code() for _ in range(12)}


@pytest.mark.parametrize("by", ["token", "certificate"])
def test_every_worker_knows_callers_and_the_next_file_and_certificate_too(
    serve: Serve, tmp_path: Path, by: str
) -> None:
    callers = written(tmp_path, CALLERS + "tokens:\n" + entry("gateway"))
    cert, key = AUTHORITY.issue("127.0.0.1").write(tmp_path)
    mutual = ("--tls-client-ca", str(AUTHORITY.write(tmp_path))) if by == "certificate" else ()
    flags = ("--tls-cert", str(cert), "--tls-key", str(key), *mutual, "--callers", str(callers))
    one = Instance(lambda *more: serve(*(flag for flag in more if flag != "--local-admin"), *flags), tmp_path)
    until(lambda: one.metric("router_workers") == 2)
    certificate = "gateway.internal" if by == "certificate" else ""
    known = Visitor(one.target, "" if certificate else token_of("gateway"), certificate=certificate)
    assert known.codes() == {grpc.StatusCode.OK}
    assert one.metric("router_decisions_total") == 12
    stranger = Visitor(one.target, token_of("later"), certificate=certificate and "later.internal")
    assert stranger.codes() == {grpc.StatusCode.UNAUTHENTICATED}

    said = len(one.server.lines)
    written(
        tmp_path, CALLERS + LATER.replace("later,", "later, sans: [later.internal],") + "tokens:\n" + entry("later")
    )
    AUTHORITY.issue("127.0.0.1", days=5).write(tmp_path)
    for event in ("callers loaded", "certificate loaded"):
        until(partial(all_said, one, event, said))
    assert stranger.codes() == {grpc.StatusCode.OK}


def all_said(one: Instance, event: str, after: int) -> bool:
    """Whether both workers have said it, from a line of the log on."""
    lines = one.server.lines[after:]
    return {found[1] for line in lines if event in line and (found := re.search(r'"worker":(\d)', line))} == {"1", "2"}


def test_workers_share_a_budget_in_redis_and_outlive_it(serve: Serve, tmp_path: Path, redis: RedisServer) -> None:
    one = Instance(serve, tmp_path, store=f"redis://127.0.0.1:{redis.port}/0")
    until(lambda: one.metric("router_workers") == 2)
    answers = [decide(one.target, "daily", input_tokens=500_000, output_tokens=500_000) for _ in range(30)]
    assert sum(answer.HasField("decision") for answer in answers) == 20
    redis.stop()
    for _ in range(12):
        assert decide(one.target).HasField("decision")
        refused = decide(one.target, "daily", input_tokens=1, output_tokens=1)
        assert refused.refusal.code == "budget_exceeded"
    until(lambda: one.metric("router_store_lost") == 1)
    redis.start()
    until(lambda: one.metric("router_store_lost") == 0)
