"""Python's collector of cycles, kept from walking through a whole catalogue while decisions wait.

Its last generation is walked whenever the heap has grown by a quarter, which each new snapshot makes it do, and that
takes tens of milliseconds. Snapshots have no cycles, so that counting references frees them; what a loading has made is
therefore taken out of the collector's sight. What is left is mostly calls under way, in a flood tens of thousands of
objects, and next to none of it is in cycles: so it is walked rarely too.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# The last generation is walked once in so many walks of the middle one; the default is 10.
_LAST = 200
_under_way = 0


def begin() -> None:
    """What is there now stays; what comes is walked through rarely."""
    gc.freeze()
    gc.set_threshold(*gc.get_threshold()[:2], _LAST)


@contextmanager
def unswept() -> Iterator[None]:
    """No collection meanwhile, and none of what is there at the end."""
    global _under_way  # noqa: PLW0603 - the collector is one for the whole process
    _under_way += 1
    gc.disable()
    try:
        yield
    finally:
        _under_way -= 1
        if not _under_way:
            gc.freeze()
            gc.enable()
