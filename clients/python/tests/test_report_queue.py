"""Reports in the background: repeated while the service is away, told before closing ends, never lost in silence."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import grpc
import pytest

from clients.python.tests.scripted import ScriptedService, scripted_service
from router_service_client import (
    AsyncRouterClient,
    LimitExceeded,
    Report,
    ReportsLost,
    RouterClient,
    RouterUnavailable,
    TraceNotFound,
    Unauthenticated,
)
from router_service_client.report_task import ReportTask
from router_service_client.report_thread import ReportThread
from router_service_client.reports import LIMITED_TIMES, Outbox

AWAY = grpc.StatusCode.UNAVAILABLE
BUSY = grpc.StatusCode.RESOURCE_EXHAUSTED
Service = tuple[ScriptedService, str]


def report(number: int) -> Report:
    return Report(trace_id=f"{number:032x}", outcome="accepted")


@pytest.fixture
def service() -> Iterator[Service]:
    with scripted_service() as both:
        yield both


def test_closing_delivers_what_waits(service: Service) -> None:
    with RouterClient(service[1]) as client:
        for number in range(20):
            client.reports.put(report(number))
    assert service[0].reports == [report(number) for number in range(20)]
    assert client.reports.outbox.delivered == 20


def test_a_service_that_is_away_is_asked_again(service: Service) -> None:
    service[0].answers = [AWAY, AWAY]
    with RouterClient(service[1]) as client:
        client.reports.put(report(1))
        client.reports.put(report(2))
    assert service[0].reports == [report(1), report(2)]


async def test_asyncio_asks_again_too(service: Service) -> None:
    service[0].answers = [AWAY, AWAY]
    async with AsyncRouterClient(service[1]) as client:
        client.reports.put(report(1))
        client.reports.put(report(2))
    assert service[0].reports == [report(1), report(2)]
    assert client.reports.outbox.delivered == 2


def test_a_service_that_is_busy_is_asked_again(service: Service) -> None:
    service[0].answers = [BUSY, BUSY]
    with RouterClient(service[1]) as client:
        client.reports.put(report(1))
        client.reports.put(report(2))
    assert service[0].reports == [report(1), report(2)]
    assert (client.reports.outbox.delivered, client.reports.outbox.refused) == (2, 0)


def test_a_report_that_is_itself_too_large_holds_up_the_others_for_so_long_only(
    caplog: pytest.LogCaptureFixture,
) -> None:
    outbox = Outbox(lambda: 1.0)
    outbox.put(report(1))
    outbox.put(report(2))
    waits = []
    for _ in range(LIMITED_TIMES):
        assert outbox.waiting[0] == report(1)
        outbox.answered(LimitExceeded("too large", BUSY))
        waits.append(outbox.wait)
    assert waits == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 5.0, 5.0, 0.0]
    assert (list(outbox.waiting), outbox.refused) == ([report(2)], 1)
    assert "refused: too large" in caplog.text
    # The next one meets a limit too, and was not taken by it: that its trace is gone then is no delivery.
    outbox.answered(LimitExceeded("busy", BUSY))
    outbox.answered(TraceNotFound("gone", grpc.StatusCode.NOT_FOUND))
    assert (outbox.delivered, outbox.refused) == (0, 2)


def test_a_token_that_cannot_be_had_for_now_loses_no_report() -> None:
    outbox = Outbox(lambda: 0.0)
    outbox.put(report(1))
    outbox.answered(Unauthenticated("there is no token to show", grpc.StatusCode.UNAUTHENTICATED))
    assert list(outbox.waiting) == [report(1)]
    outbox.answered(Unauthenticated("no", grpc.StatusCode.UNAUTHENTICATED, "ERROR_REASON_UNAUTHENTICATED"))
    assert outbox.refused == 1


def test_what_is_no_report_is_refused_at_once(service: Service) -> None:
    with RouterClient(service[1]) as client:
        with pytest.raises(TypeError, match="a Report is told, not NoneType"):
            client.reports.put(None)  # type: ignore[arg-type]
        client.reports.put(report(1))
    assert service[0].reports == [report(1)]


def test_what_the_service_refuses_is_counted_and_the_next_is_told(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    service[0].answers = [grpc.StatusCode.INVALID_ARGUMENT]
    with RouterClient(service[1]) as client:
        client.reports.put(report(1))
        client.reports.put(report(2))
    outbox = client.reports.outbox
    assert (outbox.refused, outbox.delivered) == (1, 1)
    assert "refused: as the test says" in caplog.text


def test_a_trace_that_is_gone_after_a_lost_answer_was_told() -> None:
    """Under a retention of 0 a report ends its trace, and comes again where its answer was lost."""
    outbox = Outbox(lambda: 0.0)
    gone = TraceNotFound("gone", grpc.StatusCode.NOT_FOUND)
    outbox.put(report(1))
    outbox.answered(RouterUnavailable("away", AWAY))
    outbox.answered(gone)
    assert (outbox.delivered, outbox.refused) == (1, 0)
    outbox.put(report(2))
    outbox.answered(gone)
    assert (outbox.delivered, outbox.refused) == (1, 1)


def test_what_cannot_be_delivered_is_raised_on_closing(tmp_path: object) -> None:
    client = RouterClient(f"unix:{tmp_path}/nothing.sock")
    client.reports.put(report(1))
    begun = time.monotonic()
    loss = client.reports.close(0.2)
    assert time.monotonic() - begun < 2
    assert loss is not None
    assert (loss.reports, loss.dropped) == ((report(1),), 0)
    client.close()  # told once


async def test_what_asyncio_cannot_deliver_is_told_on_closing(tmp_path: object) -> None:
    async with AsyncRouterClient(f"unix:{tmp_path}/nothing.sock") as client:
        client.reports.put(report(1))
        loss = await client.reports.close(0.2)
        assert loss is not None
        assert loss.reports == (report(1),)


def use_with_a_report_too_many(target: str, error: type[Exception] | None) -> None:
    with RouterClient(target) as client:
        client.reports.outbox.limit = 0
        client.reports.put(report(1))
        if error is not None:
            raise error


def test_leaving_the_block_raises_what_was_lost_unless_something_else_went_wrong(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ReportsLost, match="1 reports were not delivered"):
        use_with_a_report_too_many(service[1], None)
    with pytest.raises(KeyError):
        use_with_a_report_too_many(service[1], KeyError)
    assert caplog.text.count("were not delivered") == 2


def test_a_queue_that_is_full_drops_the_newest_and_counts_it(caplog: pytest.LogCaptureFixture) -> None:
    outbox = Outbox(lambda: 0.0, limit=1)
    assert outbox.put(report(1))
    assert not outbox.put(report(2))
    assert (outbox.dropped, list(outbox.waiting)) == (1, [report(1)])
    assert "report of trace 00000000000000000000000000000002 dropped" in caplog.text


def test_after_closing_nothing_is_taken_in_silence(caplog: pytest.LogCaptureFixture) -> None:
    queue = ReportThread(lambda report: None)
    assert queue.close() is None
    queue.put(report(1))
    assert queue.outbox.dropped == 1
    assert "the client is closed" in caplog.text


def test_a_fault_in_sending_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    sent = []

    def send(report: Report) -> None:
        sent.append(report)
        if len(sent) == 1:
            raise ValueError("odd")

    queue = ReportThread(send)
    queue.put(report(1))
    queue.put(report(2))
    assert queue.close() is None
    assert (queue.outbox.refused, queue.outbox.delivered) == (1, 1)
    assert "odd" in caplog.text


async def test_a_task_starts_anew_after_it_had_nothing_to_do() -> None:
    sent = []

    async def send(report: Report) -> None:
        sent.append(report)

    queue = ReportTask(send)
    for number in range(3):
        queue.put(report(number))
        assert await queue.flush()
        await asyncio.sleep(0)
    assert len(sent) == 3
    assert await queue.close() is None


def test_waits_grow_and_end_with_an_answer() -> None:
    outbox = Outbox(lambda: 1.0)
    outbox.put(report(1))
    waits = []
    for _ in range(8):
        outbox.answered(RouterUnavailable("away", AWAY))
        waits.append(outbox.wait)
    assert waits == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 5.0]
    outbox.answered(None)
    assert (outbox.wait, outbox.delivered, outbox.lost()) == (0.0, 1, None)


def test_a_service_without_a_store_wants_none() -> None:
    outbox = Outbox(lambda: 1.0)
    outbox.put(report(1))
    outbox.answered(RouterUnavailable("none", AWAY, "ERROR_REASON_NO_STORE"))
    assert (outbox.unwanted, outbox.lost()) == (1, None)
