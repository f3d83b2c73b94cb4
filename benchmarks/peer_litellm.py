"""LiteLLM's side of the peers benchmark, run by the interpreter of an environment that has LiteLLM and nothing of ours.

It reads JSON lines: first the deployments, then one order a line; it answers each with a line. An order says whether
pre-call checks are on, what to ask, and for how many seconds of processor time to ask it.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import os
import sys
import time
from typing import Any

GROUP = "pool"


def router(deployments: list[dict[str, Any]], *, checks: bool) -> Any:
    """LiteLLM's Router over the deployments, all of one group, with its filters by tag and, if asked, its checks."""
    from litellm import Router  # noqa: PLC0415 - after the environment is set

    return Router(model_list=deployments, enable_pre_call_checks=checks, enable_tag_filtering=True)


async def picks(routing: Any, order: dict[str, Any]) -> dict[str, Any]:
    """The ids that are picked for the order's requests in turn, and the processor time of one pick in µs."""
    picked: list[str] = []
    begun = time.process_time()
    for request in itertools.cycle(order["requests"]):
        try:
            chosen = await routing.select(GROUP, json.loads(request["kwargs"]), messages=request["messages"])
            picked.append(chosen["model_info"]["id"])
        except Exception as refused:  # noqa: BLE001 - LiteLLM says by many kinds of error that nothing may serve
            picked.append(f"refused: {type(refused).__name__}")
        took = time.process_time() - begun
        if took > order["seconds"] and len(picked) >= len(order["requests"]):
            return {"us": took / len(picked) * 1e6, "picked": picked[: len(order["requests"])]}
    raise AssertionError("no request to pick for")


async def main() -> None:
    """Answers orders until the input ends."""
    lines = iter(sys.stdin)
    deployments = json.loads(next(lines))
    routers = {checks: router(deployments, checks=checks) for checks in (True, False)}
    print(json.dumps("ready"), flush=True)
    for line in lines:
        order = json.loads(line)
        print(json.dumps(await picks(routers[order["checks"]], order)), flush=True)


if __name__ == "__main__":
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # nothing is fetched
    logging.disable(logging.CRITICAL)
    asyncio.run(main())
