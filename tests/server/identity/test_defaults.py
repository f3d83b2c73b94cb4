"""What a request is decided under that names no policy: its caller's default, or the catalogue's if that is its own."""

from __future__ import annotations

from pathlib import Path

import grpc
import pytest

from router_service.v1 import catalog_service_pb2 as catalog_pb
from router_service.v1 import router_service_pb2 as pb
from tests.callers.files import entry
from tests.server.identity.reasons import reason_of
from tests.server.identity.secured import OTHERS, OWN, As, bearer, secured

# By name: the facts of a caller, and the policy of its requests that name none; the catalogue's is OWN.
CALLERS = {
    "inside": (f"policies: [{OWN}]", OWN),
    "every": ("policies: ['*']", OWN),
    "other": (f"policies: [{OWN}, {OTHERS}], default_policy: {OTHERS}", OTHERS),
    "everyother": (f"policies: ['*'], default_policy: {OTHERS}", OTHERS),
    "outside": (f"policies: [{OTHERS}]", ""),
    "gone": ("policies: [was-there-once], default_policy: was-there-once", ""),
}
_TEXT = "callers:\n" + "".join(
    f"- {{caller: {name}, roles: [decide, read], {facts}}}\n" for name, (facts, _) in CALLERS.items()
)


async def test_the_default_is_the_callers_own(tmp_path: Path) -> None:
    text = _TEXT + "tokens:\n" + "".join(map(entry, CALLERS))
    async with secured(tmp_path, text) as server:
        channel = await server.for_tokens()
        for name, (_, default) in CALLERS.items():
            who = As(channel, bearer(name))
            told = await who.method("ListPolicies")(catalog_pb.ListPoliciesRequest())
            watching = who.method("WatchCatalog")(catalog_pb.WatchCatalogRequest())
            assert (told.default_policy, (await watching.read()).default_policy) == (default, default), name
            watching.cancel()
            if default:
                answer = await who.method("Decide")(pb.DecideRequest())
                assert (answer.decision.policy_id or answer.refusal.policy_id) == default, name
                continue
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await who.method("Decide")(pb.DecideRequest())
            expected = "POLICY_NOT_FOUND" if name == "gone" else "NO_DEFAULT_POLICY"
            assert reason_of(caught.value) == expected
