"""Peers, same work: which endpoint of N may serve, by region, price and context: LiteLLM's Router and this engine.

Both in-process, in one run, round by round. LiteLLM has an environment of its own, made here the first time.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.figures import Section, median, spread, table
from benchmarks.processes import SERVER_CORE, pinned
from router_service.domain.decision import Decision
from router_service.domain.endpoint import Endpoint
from router_service.domain.policy import Policy
from router_service.domain.request import RouteRequest
from router_service.engine.decide import decide
from router_service.engine.index import Index
from router_service.server.app import wall_clock

SIZES = (100, 500)
REQUIREMENT = "litellm==1.110.2"
ENVIRONMENT = Path(__file__).resolve().parents[1] / ".venv-peers"
_PROGRAM = Path(__file__).resolve().parent / "peer_litellm.py"
_INSTALL_S, _ANSWER_S = 600, 120
CEILINGS, WINDOWS, PRICES = (1, 2, 5, 10), (4_096, 8_192, 32_768, 131_072), (0.2, 0.8, 1.5, 4, 8, 20)
_WORD = "word "


class NotInstallable(Exception):
    """LiteLLM cannot be had here."""


@dataclass(frozen=True, slots=True)
class Place:
    """One endpoint as both sides are told of it."""

    endpoint_id: str
    in_eu: bool
    price: float
    window: int


def places(size: int) -> list[Place]:
    """Endpoints with every mix of region, price and window."""
    mixes = itertools.cycle(itertools.product((True, False), PRICES, WINDOWS))
    return [Place(f"e{number}", *next(mixes)) for number in range(size)]


@dataclass(frozen=True, slots=True)
class Wish:
    """One request: in the EU, for a prompt of so many tokens, under a ceiling of the price."""

    tokens: int
    ceiling: int

    def admits(self, place: Place) -> bool:
        """What both sides are to find."""
        return place.in_eu and place.price <= self.ceiling and place.window >= self.tokens


WISHES = tuple(Wish(tokens, ceiling) for tokens in (200, 1_200, 6_000) for ceiling in CEILINGS)


def deployments(of: Sequence[Place]) -> list[dict[str, Any]]:
    """LiteLLM's form: it has no ceiling of price, so each deployment has a tag for every ceiling that it keeps to."""
    return [
        {
            "model_name": "pool",
            "litellm_params": {
                "model": f"openai/{one.endpoint_id}",
                "api_key": "none",
                "region_name": "eu" if one.in_eu else "us",
                "input_cost_per_token": one.price / 1e6,
                "output_cost_per_token": one.price / 1e6,
                "tags": [f"up-to-{ceiling}" for ceiling in CEILINGS if one.price <= ceiling],
            },
            "model_info": {"id": one.endpoint_id, "max_input_tokens": one.window},
        }
        for one in of
    ]


def asked(wish: Wish) -> dict[str, Any]:
    """The same wish to LiteLLM, which counts the tokens of a prompt itself."""
    return {
        "kwargs": json.dumps({"allowed_model_region": "eu", "metadata": {"tags": [f"up-to-{wish.ceiling}"]}}),
        "messages": [{"role": "user", "content": _WORD * wish.tokens}],
    }


class Engine:
    """This engine over the same places."""

    def __init__(self, of: Sequence[Place]) -> None:
        self._index = Index(Endpoint.read(_raw(one)) for one in of)
        self._policy = Policy.read({"policy_id": "world", "residency": ["eu-hosted", "global"]})
        self._now = wall_clock()

    def picks(self, seconds: float) -> tuple[float, list[str]]:
        """The processor time of one decision in µs, and the first endpoint that each wish is given."""
        requests = [RouteRequest.read(_request(wish)) for wish in WISHES]
        picked = [_first(decide(self._index, self._policy, one, self._now)) for one in requests]
        count, begun = 0, time.process_time()
        while (took := time.process_time() - begun) < seconds:
            for one in requests:
                decide(self._index, self._policy, one, self._now)
            count += len(requests)
        return took / count * 1e6, picked

    def different(self, count: int) -> float:
        """The same where no request comes twice."""
        requests = [
            RouteRequest.read(
                _request(wish) | {"input_tokens": wish.tokens - number % 90, "output_tokens": number // 90}
            )
            for number, wish in zip(range(count), itertools.cycle(WISHES), strict=False)
        ]
        begun = time.process_time()
        for one in requests:
            decide(self._index, self._policy, one, self._now)
        return (time.process_time() - begun) / count * 1e6


def _raw(one: Place) -> dict[str, Any]:
    where = {"sovereignty": "eu-hosted", "country": "DE"} if one.in_eu else {"sovereignty": "global", "country": "US"}
    facts = {"model": one.endpoint_id, "kind": "hosted", "status": "up", "model_type": "text"}
    prices = {"input_price": one.price, "output_price": one.price, "context_window": one.window}
    return {"endpoint_id": one.endpoint_id, **facts, **where, **prices}


def _request(wish: Wish) -> dict[str, Any]:
    return {"residency": "eu-hosted", "input_tokens": wish.tokens, "max_price": wish.ceiling}


def _first(result: object) -> str:
    return result.candidates[0].endpoint_id if isinstance(result, Decision) else "refused"


class LiteLLM:
    """LiteLLM's Router in a process of its own; a round at a time."""

    def __init__(self, of: Sequence[Place]) -> None:
        # -I: beside the program lies a requests.py that is not the library which LiteLLM wants.
        command = pinned(SERVER_CORE, [str(interpreter()), "-I", str(_PROGRAM)])
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL, text=True)  # fmt: skip
        self._order(deployments(of))

    def picks(self, *, checks: bool, seconds: float) -> tuple[float, list[str]]:
        """The processor time of one pick in µs, and what is picked for each wish."""
        said = self._order({"checks": checks, "seconds": seconds, "requests": [asked(wish) for wish in WISHES]})
        return said["us"], said["picked"]

    def close(self) -> None:
        """Ends the process."""
        self._process.communicate(timeout=_ANSWER_S)

    def _order(self, order: object) -> Any:
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("no pipe to LiteLLM's process")
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("LiteLLM's process ended")
        return json.loads(line)


def interpreter() -> Path:
    """The interpreter of LiteLLM's environment, which is made where it is not there. Raises NotInstallable."""
    python, mark = ENVIRONMENT / "bin" / "python", ENVIRONMENT / REQUIREMENT
    if not mark.exists():
        install = ("-m", "pip", "--disable-pip-version-check", "--quiet", "install", REQUIREMENT)
        for command in ((sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)), (str(python), *install)):
            try:
                done = subprocess.run(command, capture_output=True, timeout=_INSTALL_S, check=False)
            except (OSError, subprocess.TimeoutExpired) as error:
                raise NotInstallable(f"{REQUIREMENT} cannot be installed here ({type(error).__name__})") from None
            if done.returncode:
                raise NotInstallable(f"{REQUIREMENT} cannot be installed here")
        (ENVIRONMENT / ".gitignore").write_text("*\n", encoding="ascii")
        mark.touch()
    return python


def run(*, quick: bool = False) -> Iterator[Section]:
    """The section, after each size what there is so far; or why there is none."""
    rows: list[list[str]] = []
    rounds, seconds = (3, 0.2) if quick else (5, 1.0)
    for size in SIZES[:1] if quick else SIZES:
        of = places(size)
        try:
            litellm = LiteLLM(of)
        except NotInstallable as reason:
            yield Section("Peers", (f"Skipped: {reason}.",))
            return
        try:
            rows += _rows(size, of, Engine(of), litellm, rounds, seconds)
        finally:
            litellm.close()
        yield Section("Peers", tuple(_told(rows, rounds)))


def _rows(
    size: int, of: Sequence[Place], engine: Engine, litellm: LiteLLM, rounds: int, seconds: float
) -> Iterator[list[str]]:
    known = {one.endpoint_id: one for one in of}
    new = engine.different(4_000)
    for checks in (True, False):
        ours, theirs = [], []
        right: list[bool] = []
        for _ in range(rounds):
            us, picked = engine.picks(seconds / 5)
            if not all(map(partial(is_right, known), WISHES, picked)):
                raise AssertionError(f"the engine gave {picked} for {WISHES}")
            their_us, their_picks = litellm.picks(checks=checks, seconds=seconds)
            ours.append(us)
            theirs.append(their_us)
            right += map(partial(is_right, known), WISHES, their_picks)
        yield [
            f"{size}",
            "on" if checks else "off",
            f"{median(theirs):,.0f}",
            f"{median(ours):.1f}",
            f"{new:.0f}",
            spread([their / our for their, our in zip(theirs, ours, strict=True)], 0),
            f"{median(theirs) / new:,.0f}",
            f"{sum(right) / len(right):.0%}",
        ]


def is_right(known: Mapping[str, Place], wish: Wish, pick: str) -> bool:
    """Whether the picked endpoint may serve the wish."""
    return pick in known and wish.admits(known[pick])


def _told(rows: list[list[str]], rounds: int) -> Iterator[str]:
    yield (
        f"{REQUIREMENT} `Router.select` and this engine's `decide`, each in a process of its own, {rounds} rounds in "
        f"turns; µs of processor time for one answer, {len(WISHES)} requests in turn: inference in the EU, a prompt of "
        "200 to 6,000 tokens that must fit the window, a ceiling of the price. LiteLLM filters by region and window "
        "only with its pre-call checks on, for which it counts the prompt's tokens itself, while this engine is told "
        "their number; it has no ceiling of price, so tags stand in for it (`enable_tag_filtering`). It picks one at "
        "random; this engine ranks, gives a failover list and the reasons of all exclusions. *Right* is the share of "
        "LiteLLM's picks that may serve the request; this engine's are checked in every round."
    )
    yield ""
    head = ("N", "pre-call checks", "LiteLLM", "engine", "engine, every request new", "LiteLLM / engine",
            "LiteLLM / engine, new", "LiteLLM right")  # fmt: skip
    yield from table(head, rows)
