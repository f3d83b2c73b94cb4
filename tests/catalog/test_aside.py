"""Loading aside that nobody waits for any more: its process ends, whatever it was about."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
from pathlib import Path

import pytest

from router_service.catalog.aside import load_aside
from router_service.catalog.load import CatalogInvalid
from tests.server.conftest import CATALOG


def children() -> set[str]:
    """The processes that this one started and that have not been waited for."""
    tasks = Path(f"/proc/{os.getpid()}/task").iterdir()
    return {child for task in tasks for child in (task / "children").read_text().split()}


@pytest.mark.parametrize("moment", [0.0, 0.001, 0.005, 0.01, 0.02, 0.1, 0.3])
async def test_a_load_that_is_given_up_leaves_no_process(tmp_path: Path, moment: float) -> None:
    path = tmp_path / "catalog.yaml"
    path.write_text(CATALOG)
    before = children()
    loading = asyncio.create_task(load_aside(path, 0))
    await asyncio.sleep(moment)
    loading.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await loading
    gc.collect()  # which tells of pipes that are open still
    assert children() <= before


async def test_neither_does_one_of_a_bad_catalogue(tmp_path: Path) -> None:
    path = tmp_path / "catalog.yaml"
    path.write_text(CATALOG.replace("currency: EUR", "currency: money"))
    before = children()
    with pytest.raises(CatalogInvalid):
        await load_aside(path, 0)
    gc.collect()
    assert children() <= before
