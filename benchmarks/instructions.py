"""Instructions of a Decide beside the floor's: counts that no other load moves, by valgrind's callgrind.

`python -m benchmarks.instructions [ENDPOINTS] [--different]` runs each server twice, with few and with more calls; the
difference, over the calls, is what one call takes outside the kernel. Some two minutes.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import grpc

from benchmarks.catalogues import catalogue, models_of
from benchmarks.checking import DECIDE
from benchmarks.figures import table
from benchmarks.floor import UNARY
from benchmarks.processes import PLAIN, Server
from benchmarks.requests import requests

FEW, MORE, _AT_ONCE, _SAME = 200, 1_000, 8, 50
_ANSWER_SIZE, _TIMEOUT_S, _SHOWN = 1_200, 300, 12

# A line of a callgrind file that names an object or a function, for short by a number after the first time.
_NAME = re.compile(r"(ob|fn|cob|cfn)=\((\d+)\)(?: (.*))?$")


def main(arguments: Sequence[str]) -> None:
    """Counts and prints."""
    parser = argparse.ArgumentParser(prog="benchmarks.instructions", description=__doc__)
    parser.add_argument("endpoints", nargs="?", type=int, default=500)
    parser.add_argument("--different", action="store_true", help=f"every request different, not the same {_SAME} again")
    asked = parser.parse_args(arguments)
    if shutil.which("valgrind") is None:
        sys.exit("needs valgrind")
    messages = [one.SerializeToString() for one in requests(_SAME + MORE, models_of(asked.endpoints))]
    if not asked.different:
        messages = (messages[:_SAME] * (MORE // _SAME + 1))[: _SAME + MORE]
    with TemporaryDirectory() as place:
        folder = Path(place)
        path = catalogue(asked.endpoints).write(folder)
        ending = ("--drain-delay", "0", "--grace", "0")
        serve = ["serve", "--listen", "127.0.0.1:0", "--catalog", str(path), *ending, *PLAIN]
        floor = _counted("benchmarks.floor", [str(_ANSWER_SIZE)], UNARY, messages, folder)
        service = _counted("router_service.cli", serve, DECIDE, messages, folder)
    print("\n".join(_told(floor, service)))


def _counted(module: str, arguments: list[str], method: str, messages: Sequence[bytes], folder: Path) -> Counter[str]:
    """Instructions of one call by the library that they are in."""
    few, more = (_run(module, arguments, method, messages[: _SAME + count], folder) for count in (FEW, MORE))
    return Counter({library: (more[library] - few[library]) // (MORE - FEW) for library in more})


def _run(module: str, arguments: list[str], method: str, messages: Sequence[bytes], folder: Path) -> Counter[str]:
    out = folder / "callgrind.out"
    under = ("valgrind", "--tool=callgrind", f"--callgrind-out-file={out}")
    with Server(module, arguments, folder, under=under) as server, grpc.insecure_channel(server.address) as channel:
        call: Any = channel.unary_unary(method)
        under_way = []
        for number, message in enumerate(messages):
            under_way.append(call.future(message, timeout=_TIMEOUT_S, wait_for_ready=True))
            if number < _SAME or len(under_way) >= _AT_ONCE:
                under_way.pop(0).result()
        for one in under_way:
            one.result()
    return by_library(out.read_text(encoding="utf-8", errors="replace"))


def by_library(text: str) -> Counter[str]:
    """Instructions by library, of a callgrind file: a line of costs belongs to the object named last."""
    names: dict[str, str] = {}
    found: Counter[str] = Counter()
    library, of_callee = "?", False
    for line in text.splitlines():
        if named := _NAME.match(line):
            kind, number, name = named.groups()
            if kind.endswith("ob"):
                known = names.setdefault(number, Path(name or "?").name)
                library = known if kind == "ob" else library
        elif line.startswith("calls="):
            of_callee = True
        elif line[:1].isdigit() or line[:1] in ("+", "-", "*"):
            costs = line.split()
            if not of_callee and len(costs) > 1:
                found[library] += int(costs[1])
            of_callee = False
    return found


def _told(floor: Counter[str], service: Counter[str]) -> list[str]:
    added = Counter({library: service[library] - floor[library] for library in service})
    rows = [("all", floor.total(), service.total(), added.total())]
    rows += [(name, floor[name], service[name], more) for name, more in added.most_common(_SHOWN)]
    share = service.total() / floor.total()
    return [
        f"Decide takes {share:.2f} times the instructions of the floor's call (outside the kernel).",
        "",
        *table(
            ("library", "floor", "service", "added"),
            ([name, *(f"{number:,}" for number in numbers)] for name, *numbers in rows),
        ),
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
