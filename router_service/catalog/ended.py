"""Why the process that loads a catalogue ended without one, as people read it. A supervisor has it too: no imports."""

from __future__ import annotations

import signal

_LAST_WORDS = 500


def why(code: int, said: bytes) -> str:
    """`code` is its exit code, or minus the number of the signal that ended it; `said` its standard error."""
    if code >= 0:
        how = f"exit code {code}"
    else:
        how = f"killed by signal {-code}" + ("; out of memory?" if -code == signal.SIGKILL else "")
    words = said.decode(errors="replace").strip()[-_LAST_WORDS:]
    return f"{how}: {words}" if words else how


def not_begun(error: OSError) -> str:
    """The system did not let it begin."""
    return f"the process that loads cannot be started: {error.strerror or error}; are memory or processes used up?"
