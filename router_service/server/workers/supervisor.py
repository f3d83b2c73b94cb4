"""The supervisor of several workers: `python -m router_service.server.workers.supervisor`, with its plan.

It claims the ports, loads the catalogue once for all, starts the workers and replaces those that end, answers the admin
port for all of them together, and ends them gently. It decides nothing and imports little.
"""

from __future__ import annotations

import asyncio
import resource
import signal
import sys
from pathlib import Path

from router_service.server import signals
from router_service.server.admin import AdminPort
from router_service.server.workers import merge
from router_service.server.workers.catalogue import Catalogue
from router_service.server.workers.child import Child, Heard, how_ended
from router_service.server.workers.claims import Claims, Taken
from router_service.server.workers.journal import Journal
from router_service.server.workers.link import End, Wake, Workers
from router_service.server.workers.plan import Plan, Port, taken_plan
from router_service.server.workers.seat import PLACEHOLDER, Seat

PULL_S = 5.0
"""How often workers tell their metrics though nobody scrapes: what one counted after that is lost if it is killed."""
_SCRAPE_PATIENCE_S = 2.0
_MISCONFIGURED, _BROKEN = 2, 1
_OWN = """\
# HELP router_workers Workers that answer calls.
# TYPE router_workers gauge
router_workers {serving}.0
# HELP router_workers_wanted Workers that there should be, as --workers says.
# TYPE router_workers_wanted gauge
router_workers_wanted {wanted}.0
# HELP router_worker_exits_total Workers that ended while the server went on, whatever ended them.
# TYPE router_worker_exits_total counter
router_worker_exits_total {exits}.0
"""
_OWN_PROCESS = """\
# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total {cpu_s}
# TYPE process_resident_memory_bytes gauge
process_resident_memory_bytes {resident}
"""


class Supervisor:
    """One instance of several workers."""

    def __init__(self, plan: Plan, journal: Journal) -> None:
        self._plan, self._journal = plan, journal
        self._claims = Claims()
        self._listen: tuple[str, ...] = ()
        self._health: str | None = None
        self._stopped, self._complete = asyncio.Event(), asyncio.Event()
        self._exits = 0
        self._retired = merge.Retired()
        self._children = [self._child(number) for number in range(1, plan.workers + 1)]
        self._catalogue = Catalogue(Path(plan.catalog), plan.loader, self._children)

    async def run(self) -> int:
        """Serves until it is told to end; the exit code."""
        loop = asyncio.get_running_loop()
        for number in signals.ENDING:
            loop.add_signal_handler(number, self._end)
        loop.add_signal_handler(signal.SIGHUP, self._wake)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals.ENDING)
        try:
            self._claim()
            admin = await self._start_admin()
        except Taken as error:
            sys.stderr.write(f"Error: {error}\n")
            return _MISCONFIGURED
        beside = [asyncio.create_task(work) for work in (self._catalogue.run(), self._pull(), self._tell_complete())]
        try:
            return await self._run_workers()
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
            if admin is not None:
                admin.close()
            self._claims.close()

    async def _run_workers(self) -> int:
        """Starts the first worker alone, so that what is wrong is said once, and then the others."""
        first, *others = self._children
        life = asyncio.create_task(first.live())
        await asyncio.wait((life, serving := asyncio.create_task(first.begun.wait())), return_when="FIRST_COMPLETED")
        serving.cancel()
        if life.done() and not first.begun.is_set():
            code = life.result()
            if code <= 0 and not self._stopped.is_set():  # it said nothing, and was not to end
                self._journal.error("the first worker has ended", **how_ended(code))
                return _BROKEN
            return code if code >= 0 else _BROKEN
        lives = [(first, life), *((child, child.live()) for child in others)]
        keeping = [asyncio.create_task(child.keep(self._retire, self._stopped, one)) for child, one in lives]
        await self._stopped.wait()
        _, late = await asyncio.wait(keeping, timeout=self._plan.drain_s)
        if late:
            self._journal.error("workers did not end in time and are killed", workers=len(late))
            for child in self._children:
                child.kill()
        codes = await asyncio.gather(*keeping)
        self._journal.info("all workers have ended", exit_codes=codes)
        return _BROKEN if any(codes) else 0

    def _child(self, number: int) -> Child:
        def seat(link: int) -> Seat:
            listen = tuple(one.replace(PLACEHOLDER, str(number)) for one in self._listen)
            return Seat(number, link, listen, self._health)

        return Child(seat, self._plan.command, self._journal, self._changed, self._greet, self._catalogue_hears)

    def _catalogue_hears(self, child: Child, message: Heard) -> None:
        self._catalogue.hears(child, message)

    def _greet(self, child: Child) -> None:
        """A process has begun."""
        self._catalogue.greet(child)
        child.tell(Workers(self._complete.is_set()))
        if self._stopped.is_set():
            child.tell(End())

    def _changed(self) -> None:
        """A worker began to serve, or ceased to."""
        complete = all(child.serves for child in self._children)
        if complete != self._complete.is_set():
            (self._complete.set if complete else self._complete.clear)()
            for child in self._children:
                child.tell(Workers(complete))

    async def _tell_complete(self) -> None:
        """Says where clients reach it, once all workers serve."""
        await self._complete.wait()
        for address in dict.fromkeys(one for child in self._children for one in child.addresses or ()):
            sys.stderr.write(f"listening on {address}\n")
        self._journal.info("all workers serve", workers=len(self._children))

    def _end(self) -> None:
        """A signal has come: the first ends gently, a second at once."""
        at_once = self._stopped.is_set()
        self._stopped.set()
        for child in self._children:
            child.tell(End(at_once))

    def _wake(self) -> None:
        self._catalogue.wake()
        for child in self._children:
            child.tell(Wake())

    def _retire(self, page: merge.Pages) -> None:
        self._retired.add(page)
        self._exits += not self._stopped.is_set()

    def _claim(self) -> None:
        """Claims every port. Raises Taken."""
        self._listen = tuple(self._claimed(port) for port in self._plan.listen)
        self._health = None if self._plan.health is None else self._claimed(self._plan.health)

    def _claimed(self, port: Port) -> str:
        if not port.hosts:
            return port.text
        chosen = self._claims.claim(port.text, port.hosts, port.port)
        return f"{port.text.rpartition(':')[0]}:{chosen}"

    async def _start_admin(self) -> asyncio.Server | None:
        if self._plan.admin is None:
            return None
        page = AdminPort(self._page, lambda: not self._stopped.is_set() and any(one.serves for one in self._children))
        host, port = self._plan.admin
        try:
            server, port = await page.start(host, port)
        except OSError as error:
            raise Taken(f"{host}:{port}: cannot listen there; is the port in use?") from error
        self._journal.info("admin port", address=f"{host}:{port}")
        return server

    async def _page(self) -> bytes:
        await asyncio.gather(*(child.ask_page(_SCRAPE_PATIENCE_S) for child in self._children))
        serving = sum(child.serves for child in self._children)
        own = _OWN.format(serving=serving, wanted=len(self._children), exits=self._exits)
        pages = [*(child.page for child in self._children), merge.read(_own_process()), self._retired.page()]
        return "".join(merge.merged(pages, own)).encode()

    async def _pull(self) -> None:
        while True:
            await asyncio.sleep(PULL_S)
            await asyncio.gather(*(child.ask_page(PULL_S) for child in self._children))


def _own_process() -> str:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    resident = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    return _OWN_PROCESS.format(cpu_s=usage.ru_utime + usage.ru_stime, resident=resident)


def main() -> int:
    """Runs the plan of this process."""
    plan = taken_plan()

    async def supervise() -> int:
        code = await Supervisor(plan, Journal(plan.log_level, plan.log_format)).run()
        signals.let_go(asyncio.get_running_loop())
        signals.ignore()
        return code

    return asyncio.run(supervise())


if __name__ == "__main__":
    sys.exit(main())
