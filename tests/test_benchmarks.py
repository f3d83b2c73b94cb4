"""The benchmarks run, each in a form of seconds: that their parts work is tested, and never how fast anything is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from benchmarks import (
    callers,
    catalogues,
    churn,
    engine,
    flood,
    flooding,
    goload,
    h2load,
    instructions,
    parts,
    peers,
    probe,
    requests,
    results,
    rounds,
    stream,
    wire,
    workers,
)
from benchmarks.checking import DECIDE, verify
from benchmarks.figures import Section, at_least, at_most, spread, table
from benchmarks.floor import STREAM, UNARY
from benchmarks.inprocess import InProcess, comparable, door
from benchmarks.memory import serving_after
from benchmarks.processes import Server, floor, service
from router_service.domain.decision import Decision
from router_service.engine.decide import decide
from router_service.v1.catalog_service_pb2 import ListEndpointsRequest, ListEndpointsResponse

SIZE = 40
needs_h2load = pytest.mark.skipif(not h2load.is_there(), reason="h2load is not here: Debian has it in nghttp2-client")


@pytest.fixture(scope="module")
def messages() -> list[bytes]:
    return [one.SerializeToString() for one in requests.requests(60, catalogues.models_of(SIZE))]


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("serving")
    with service(catalogues.catalogue(SIZE).write(folder), folder) as server:
        yield server


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with floor(700, tmp_path_factory.mktemp("floor")) as server:
        yield server


@pytest.fixture(scope="module")
def generator(tmp_path_factory: pytest.TempPathFactory) -> goload.Generator:
    try:
        return goload.Generator(tmp_path_factory.mktemp("go"))
    except goload.Unbuildable as reason:
        pytest.skip(str(reason))


def test_catalogues_are_the_same_in_every_run_and_have_as_many_endpoints_as_asked(tmp_path: Path) -> None:
    made = catalogues.catalogue(SIZE)
    catalogues.catalogue.cache_clear()
    assert catalogues.catalogue(SIZE) == made
    snapshot = made.snapshot(tmp_path, 0)
    assert snapshot.index.size == SIZE
    assert {"eu", "strict", "listed", "world"} == set(snapshot.policies)


def test_a_catalogue_larger_than_the_published_one_repeats_it(tmp_path: Path) -> None:
    assert catalogues.catalogue(5_000).snapshot(tmp_path, 0).index.size == 5_000


def test_catalogues_are_made_up_where_the_published_one_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogues, "_LITELLM", tmp_path / "none")
    for cached in (catalogues.catalogue, catalogues._published):
        cached.cache_clear()
    try:
        made = catalogues.catalogue(SIZE)
        assert made.source.startswith("made up")
        assert made.snapshot(tmp_path, 0).index.size == SIZE
    finally:
        for cached in (catalogues.catalogue, catalogues._published):
            cached.cache_clear()


def test_requests_are_the_same_in_every_run_and_differ_from_each_other(messages: list[bytes]) -> None:
    again = [one.SerializeToString() for one in requests.requests(60, catalogues.models_of(SIZE))]
    assert again == messages
    assert len(set(messages)) == len(messages)
    assert requests.framed(messages[0])[:5] == bytes((0, 0, 0, 0, len(messages[0])))


def test_most_requests_are_decided(messages: list[bytes], tmp_path: Path) -> None:
    within = InProcess(SIZE, tmp_path)
    asks = map(within.ask, messages)
    results = [decide(within.snapshot.index, within.policy(ask), ask.request, 0) for ask in asks]
    assert sum(isinstance(result, Decision) for result in results) > len(results) / 2


def test_the_door_answers_as_the_engine_does(messages: list[bytes], tmp_path: Path) -> None:
    within = InProcess(SIZE, tmp_path)
    call = door(within.snapshot)
    for message in messages:
        assert comparable(call(message)) == comparable(within.answer(message))


def test_the_server_answers_as_the_engine_does(serving: Server, messages: list[bytes], tmp_path: Path) -> None:
    assert verify(serving, SIZE, messages, tmp_path) > 100


def test_the_stream_answers_as_decide_does(serving: Server, messages: list[bytes]) -> None:
    stream.verify_stream(serving, messages)


def test_a_difference_between_server_and_engine_is_found(
    serving: Server, messages: list[bytes], tmp_path: Path
) -> None:
    with pytest.raises(AssertionError, match="the server answered"):
        verify(serving, 10, messages, tmp_path)


@needs_h2load
@pytest.mark.parametrize("rate", [None, 200])
def test_a_round_of_h2load(serving: Server, messages: list[bytes], tmp_path: Path, rate: float | None) -> None:
    bodies = []
    for number, message in enumerate(messages[:2]):
        bodies.append(tmp_path / f"body-{number}")
        bodies[-1].write_bytes(requests.framed(message))
    done = h2load.load(serving, DECIDE, bodies, tmp_path, seconds=0.5, streams=2, rate=rate)
    assert done.throughput > 0
    assert 0 < done.p50 <= done.p99


def test_rounds_of_go(
    generator: goload.Generator, serving: Server, empty: Server, messages: list[bytes], tmp_path: Path
) -> None:
    bodies = goload.write_bodies(messages, tmp_path / "messages")
    unary, streams = goload.Shape(2, 4), goload.Shape(2, 2, stream=True, window=4)
    for server, method, shape in (
        (serving, DECIDE, unary),
        (empty, UNARY, unary),
        (empty, STREAM, streams),
    ):
        done = generator.load(server, method, bodies, shape, seconds=0.2)
        assert done.throughput > 0
        assert 0 < done.p50 <= done.p99
    with pytest.raises(RuntimeError, match="Unimplemented"):
        generator.load(empty, DECIDE, bodies, unary, seconds=0.2)


def test_only_what_ends_while_all_generators_run_counts() -> None:
    logs = [
        [(1_000_000 + 100_000 * n, 50) for n in range(1, 21)],
        [(1_200_000 + 100_000 * n, 50) for n in range(1, 21)],
    ]
    counted = h2load.counted(logs, cpu_s=0.4)
    assert counted.throughput == pytest.approx(20, rel=0.2)
    assert counted.cpu == pytest.approx(10_000)


def test_the_one_that_goes_first_alternates() -> None:
    order: list[str] = []

    def one(name: str, value: float) -> rounds.Round:
        order.append(name)
        return rounds.Round(value, 1, 1, 1)

    pairs = rounds.interleaved(3, lambda _: one("base", 10), lambda _: one("other", 8))
    assert order == ["base", "other", "other", "base", "base", "other"]
    assert rounds.ratio(pairs, "throughput") == 0.8


def test_figures_say_whether_a_goal_is_met() -> None:
    assert (at_least(0.9, 0.85), at_most(1.4, 1.3)) == ("≥ 0.85: met", "≤ 1.3: not met")
    assert spread([1, 3, 2]) == "2.00 (1.00–3.00)"
    assert table(("a", "b"), [("1", "2")]) == ["| a | b |", "| --- | --- |", "| 1 | 2 |"]


def test_the_engine_s_figures(tmp_path: Path) -> None:
    row, repeated_us = engine.measure(10, tmp_path, quick=True)
    assert len(row) == 8
    assert repeated_us > 0


def test_a_server_is_serving_after_some_time(serving: Server) -> None:
    assert serving_after(serving.address, serving.started) > 0
    assert serving.rss_mb() > 10
    assert serving.cpu_s() > 0


def test_probes_take_time(serving: Server) -> None:
    probes = probe.probe(serving.address, serving.pid, 0.1)
    assert all(waited > 0 for waited, _ in probes)
    assert max(used for _, used in probes) > 0


def test_a_changed_catalogue_loads_and_reported_figures_are_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(churn, "SIZE", SIZE)
    files = churn.Files(tmp_path)
    with service(files.folder, tmp_path, churn.store_flags(tmp_path)) as server:
        server.wait_for(r"(listening) on")
        reporter = churn.Reporter(server)
        with churn.changing(files, reporter, churn.Change("both", 0.0, 0.2), 0.4):
            server.wait_for(r"(?s)(catalogue loaded).*catalogue loaded")
        churn.settle(server)
        with grpc.insecure_channel(server.address) as channel:
            call: Any = channel.unary_unary("/router_service.v1.CatalogService/ListEndpoints")
            served = ListEndpointsResponse.FromString(call(ListEndpointsRequest(page_size=1000).SerializeToString()))
    assert sum(one.HasField("observed_latency_ms") for one in served.endpoints) == 1


def test_peers_wish_for_something_that_some_places_have() -> None:
    places = peers.places(100)
    assert len({one.endpoint_id for one in places}) == len(peers.deployments(places)) == 100
    for wish in peers.WISHES:
        assert 0 < sum(map(wish.admits, places)) < 100
        assert json.loads(peers.asked(wish)["kwargs"])["allowed_model_region"] == "eu"
    known = {one.endpoint_id: one for one in places}
    _, picked = peers.Engine(places).picks(0.01)
    assert all(peers.is_right(known, wish, pick) for wish, pick in zip(peers.WISHES, picked, strict=True))


def test_a_section_takes_the_place_of_an_older_one_and_leaves_the_others(tmp_path: Path) -> None:
    path = tmp_path / "results.md"
    results.Results(path, ("Wire", "Engine")).put(Section("Engine", ("of old",)), quick=False)
    results.Results(path, ("Wire", "Engine")).put(Section("Wire", ("new",)), quick=True)
    results.Results(path, ("Wire", "Engine")).put(Section("Engine", ("newer",)), quick=False)
    text = path.read_text(encoding="utf-8")
    assert text.index("## Wire") < text.index("## Engine") < text.index("newer")
    assert "of old" not in text
    assert "--quick" in text


def test_every_setup_of_the_wire_benchmark_serves(tmp_path: Path) -> None:
    callers.write_callers(tmp_path)
    assert {setup.authenticates for setup in wire.SETUPS} == {True, False}
    for setup in wire.SETUPS:
        with service(catalogues.catalogue(10).write(tmp_path), tmp_path, wire.flags_of(setup, tmp_path)) as server:
            assert server.address


@needs_h2load
def test_workers_are_measured_against_one_process() -> None:
    pairs = workers.measure("none", 1, 1.0)
    assert all(one.throughput > 0 for pair in pairs for one in (pair.base, pair.other))


@pytest.mark.parametrize("kind", [flood.H2LOAD_CALLS, "metadata"])
def test_a_flood_is_measured_beside_a_quiet_round(kind: str) -> None:
    if kind == flood.H2LOAD_CALLS and not h2load.is_there():
        pytest.skip("h2load is not here")
    [pair] = flood.measure(kind, 1, 0.5)
    assert min(len(pair.quiet), len(pair.flooded)) > 5
    assert kind == flood.H2LOAD_CALLS or pair.ends["RESOURCE_EXHAUSTED"] > 0
    assert pair.ratio(0.99) > 0


def test_every_kind_of_flood_is_told_of() -> None:
    assert set(flood._ABOUT) == {*flooding.KINDS, "all"}


def test_what_a_decide_is_made_of_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    parts.main(["10"])
    told = capsys.readouterr().out
    assert "µs a call at 10 endpoints" in told
    assert "decide_response" in told


def test_instructions_count_for_the_library_that_they_are_in() -> None:
    text = """\
ob=(1) /lib/one.so
fn=(1) outer
0 5
cob=(2) /lib/two.so
cfn=(2) inner
calls=1 0
0 100
+3 7
ob=(2)
fn=(2)
0 100
"""
    assert instructions.by_library(text) == {"one.so": 12, "two.so": 100}
