"""What the proxy adds to the time to the first word, and what 200 streams at once take of memory and processor.

    python -m clients.openai_proxy.benchmarks.measure [--requests 1000] [--streams 200]

A service, a backend and a proxy run on loopback, each in a process of its own. A request goes to the backend itself,
then through the proxy, then its decision alone is asked for; so on in turns, on connections that stay open. What the
proxy adds is the difference of the medians, less the decision's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import uvloop

from clients.conformance.serving import serving
from clients.openai_proxy.benchmarks.backend import PAUSE_S, WORD
from router_service_client import AsyncRouterClient

CATALOGUE = """\
currency: EUR
default_policy: eu
models: [{model: m, context_window: 100000}]
policies: [{policy_id: eu}]
endpoints:
- {endpoint_id: m@here, model: m, provider: p, country: DE, sovereignty: eu-hosted, input_price: 1, output_price: 1}
- {endpoint_id: m@there, model: m, provider: q, country: FR, sovereignty: eu-hosted, input_price: 2, output_price: 2}
"""
SAID = [{"role": "system", "content": "You are polite. " * 200}, {"role": "user", "content": "Good morning?"}]
WARM_UP = 200
SETTLED_S = 6.0
PATIENCE_S = 30.0


@contextmanager
def process(*command: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A process that says where it is listening, and that place."""
    with subprocess.Popen([sys.executable, *command], stderr=subprocess.PIPE) as running:
        try:
            said = b"" if running.stderr is None else running.stderr.readline()
            found = re.fullmatch(rb"listening on (\S+)\n", said)
            if found is None:
                raise SystemExit(f"{command}: {said.decode()}")
            yield running, found[1].decode()
        finally:
            running.terminate()


class Connection:
    """A connection that stays open."""

    def __init__(self, port: int, path: str, *, long: bool = False) -> None:
        self._port = port
        body = {"model": "m", "messages": SAID, "stream": True, **({"seed": 1} if long else {})}
        written = json.dumps(body, separators=(",", ":")).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        self._request = f"{head}Content-Length: {len(written)}\r\n\r\n".encode() + written

    async def open(self) -> Connection:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def first_word_ms(self) -> float:
        """Asks, and reads to the end of the stream; how long the first word took."""
        begun = time.perf_counter()
        self._writer.write(self._request)
        read, first = b"", 0.0
        while not read.endswith(b"0\r\n\r\n"):
            piece = await self._reader.read(65536)
            if not piece:
                raise SystemExit(f"the answer broke off: {read[-500:]!r}")
            read += piece
            if not first and WORD in read:
                first = time.perf_counter() - begun
        if b"[DONE]" not in read:
            raise SystemExit(f"no answer: {read[:500]!r}")
        return first * 1000

    def close(self) -> None:
        self._writer.close()


async def latencies(target: str, backend: int, proxy: int, requests: int) -> None:
    """Prints the medians."""
    direct = await Connection(backend, "/v1/chat/completions").open()
    through = await Connection(proxy, "/v1/chat/completions").open()
    took: dict[str, list[float]] = {"direct": [], "through": [], "decide": []}
    async with AsyncRouterClient(target) as router:
        for number in range(WARM_UP + requests):
            async with asyncio.timeout(PATIENCE_S):
                once = {"direct": await direct.first_word_ms(), "through": await through.first_word_ms()}
            begun = time.perf_counter()
            await router.decide(model="m", input_tokens=800, modalities=["text"], structured_output="none")
            once["decide"] = (time.perf_counter() - begun) * 1000
            if number >= WARM_UP:
                for name, one in once.items():
                    took[name].append(one)
    direct.close()
    through.close()
    median = {name: statistics.median(ones) for name, ones in took.items()}
    added = median["through"] - median["direct"]
    print(f"time to the first word, {requests} requests in turns, medians:")
    print(f"  the backend itself       {median['direct']:6.2f} ms")
    print(f"  through the proxy        {median['through']:6.2f} ms")
    print(f"  Decide alone             {median['decide']:6.2f} ms")
    print(f"  the proxy adds           {added:6.2f} ms, {added - median['decide']:.2f} ms beyond Decide")


async def memory(process_id: int, proxy: int, streams: int) -> None:
    """Prints what it takes while all of them speak."""
    before, cpu = _rss_mb(process_id), _cpu_s(process_id)
    connections: Sequence[Connection] = await asyncio.gather(
        *(Connection(proxy, "/v1/chat/completions", long=True).open() for _ in range(streams))
    )
    reading = [asyncio.create_task(one.first_word_ms()) for one in connections]
    await asyncio.sleep(SETTLED_S)
    began, words = _cpu_s(process_id), time.perf_counter()
    await asyncio.sleep(SETTLED_S)
    load = (_cpu_s(process_id) - began) / (time.perf_counter() - words)
    held = _rss_mb(process_id)
    await asyncio.gather(*reading)
    for one in connections:
        one.close()
    parts = streams / PAUSE_S
    print(f"{streams} streams at once, {parts:.0f} parts a second in all:")
    print(f"  memory                   {held:6.0f} MB ({before:.0f} MB before)")
    print(f"  processor                {load:6.0%} of a core, {load / parts * 1e6:.0f} µs a part")
    print(f"  all of it                {_cpu_s(process_id) - cpu:6.1f} s of the processor")


def _rss_mb(process_id: int) -> float:
    status = Path(f"/proc/{process_id}/status").read_text("utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def _cpu_s(process_id: int) -> float:
    fields = Path(f"/proc/{process_id}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Starts what is needed, measures and ends it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--streams", type=int, default=200)
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "catalog.yaml").write_text(CATALOGUE, "utf-8")
        arguments = ("--catalog", str(folder / "catalog.yaml"), "--store", f"sqlite:{folder}/db")
        target = stack.enter_context(serving("--listen", "127.0.0.1:0", *arguments))
        _, backend = stack.enter_context(process(str(Path(__file__).with_name("backend.py"))))
        said = {
            "listen": "127.0.0.1:0",
            "service": {"target": target},
            "backends": [{"endpoints": ["*"], "base_url": f"http://127.0.0.1:{backend}/v1"}],
        }
        (folder / "proxy.yaml").write_text(json.dumps(said), "utf-8")
        command = ("-m", "router_openai_proxy", "--config", str(folder / "proxy.yaml"), "--log-level", "warning")
        running, url = stack.enter_context(process(*command))
        port = int(url.rpartition(":")[2].removesuffix("/v1"))
        uvloop.run(latencies(target, int(backend), port, given.requests))
        uvloop.run(memory(running.pid, port, given.streams))


if __name__ == "__main__":
    main()
