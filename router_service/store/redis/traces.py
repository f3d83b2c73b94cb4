"""Traces by their id, and their entries in the indices.

A trace, what was reported of it, and what lists it live in different slots, so they are written one after another, and
in an order that heals: a trace is there before it is listed, a list leaves out what is not there, and writer and
reporter each look for the other's work after their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import batched

import msgspec

from router_service.store.interface import Report, StoredTrace, Trace
from router_service.store.packed import pack_trace, unpack_reports, unpack_trace
from router_service.store.redis.keys import Keys
from router_service.store.redis.lane import Lane
from router_service.store.redis.scripts import INDEX, NEED_CATALOGS, TRACELESS, UNINDEX, Command
