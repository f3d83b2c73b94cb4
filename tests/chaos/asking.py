"""What callers ask: random requests under the policies of the version that was put in place last."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from typing import Any

from router_service.v1 import router_service_pb2 as pb
from router_service.v1.route_pb2 import RouteRequest
from tests.chaos.catalogues import BUDGETED, DEFAULT_POLICY, Book
from tests.reference.generate_request import random_request

Json = dict[str, Any]
DATA_CLASSES = ("", "personal", "health", "Health", "secret")


@dataclass(frozen=True)
class Asked:
    """A request as the reference reads it, and the message that asks it."""

    policy_id: str
    request: Json
    data_class: str
    message: pb.DecideRequest


class Asker:
    """Draws requests; those under a budget mostly count their tokens, so that they spend."""

    def __init__(self, rng: random.Random, book: Book) -> None:
        self._rng, self._book = rng, book
        self._numbers = itertools.count()

    def ask(self, *, plain: bool = False) -> Asked:
        """One request; a plain one goes without budgets and classes of data."""
        rng = self._rng
        version = self._book.newest
        # All versions have policies of the same names, so that whichever serves has the one that is asked for.
        policies = [one for one in version.policies if not (plain and one in (*BUDGETED, "classes"))]
        policy_id = rng.choice(policies if rng.random() < 0.7 or plain else BUDGETED)
        if policy_id in BUDGETED and rng.random() < 0.8:
            request: Json = {"input_tokens": rng.randrange(1, 3000), "output_tokens": rng.randrange(1, 1000)}
        elif rng.random() < 0.3:
            request = {"task": rng.choice(("coding", "general")), "input_tokens": rng.randrange(1000)}
        else:
            request = random_request(rng, list(version.endpoints.values()))
        request = {key: value for key, value in request.items() if value is not None}
        data_class = rng.choice(DATA_CLASSES) if policy_id == "classes" else ""
        message = pb.DecideRequest(
            request_id=str(next(self._numbers)),
            policy_id="" if policy_id == DEFAULT_POLICY and rng.random() < 0.5 else policy_id,
            data_class=data_class,
            request=RouteRequest(**request),
        )
        return Asked(policy_id, request, data_class, message)
