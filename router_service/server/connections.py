"""How many connections a server has: gRPC does not tell, so the kernel is asked, by a thread and every few seconds."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

EVERY_S = 5.0
_ESTABLISHED, _CONNECTED = b"01", b"03"


class Connections:
    """The connections to these addresses, as `bind` tells them."""

    def __init__(self) -> None:
        self._ports: set[int] = set()
        self._paths: set[bytes] = set()
        self.count = self.most_of_one = 0
        """How many there were when they were counted last, and how many of them the address has that has most."""

    def watch(self, reached: Iterable[str]) -> None:
        """Counts those to these addresses from now on."""
        for address in reached:
            plain = address.split(" ", 1)[0]
            if plain.startswith("unix:"):
                self._paths.add(plain.removeprefix("unix:").encode())
            else:
                self._ports.add(int(plain.rpartition(":")[2]))

    async def run(self) -> None:
        """Goes on until it is cancelled."""
        while True:
            self.count, self.most_of_one = await asyncio.to_thread(self.counted)
            await asyncio.sleep(EVERY_S)

    def counted(self) -> tuple[int, int]:
        """How many there are now, and how many come from the one address that has most; 0 where nothing tells."""
        with suppress(OSError, ValueError):
            own = _own_sockets()
            of_each = Counter(peer for inode, peer in (*self._tcp(), *self._unix()) if inode in own)
            return of_each.total(), max(of_each.values(), default=0)
        return 0, 0

    def _tcp(self) -> Iterable[tuple[bytes, bytes]]:
        """The inodes of connections to the ports, whoever's they are, and the address that each comes from."""
        for table in ("tcp", "tcp6"):
            with suppress(FileNotFoundError):  # a machine without IPv6
                for line in Path(f"/proc/self/net/{table}").read_bytes().splitlines()[1:]:
                    fields = line.split()
                    if fields[3] == _ESTABLISHED and int(fields[1].rpartition(b":")[2], 16) in self._ports:
                        yield fields[9], fields[2].rpartition(b":")[0]

    def _unix(self) -> Iterable[tuple[bytes, bytes]]:
        if self._paths:
            for line in Path("/proc/self/net/unix").read_bytes().splitlines()[1:]:
                fields = line.split(None, 7)
                if len(fields) == 8 and fields[5] == _CONNECTED and fields[7] in self._paths:
                    yield fields[6], fields[7]


def _own_sockets() -> set[bytes]:
    """The inodes of the sockets that this process has open."""
    found = set()
    with os.scandir("/proc/self/fd") as files:
        for file in files:
            with suppress(FileNotFoundError):  # closed meanwhile
                target = os.readlink(file.path)  # noqa: PTH115 - of thousands, and a Path takes longer than the call
                if target.startswith("socket:["):
                    found.add(target[8:-1].encode())
    return found
