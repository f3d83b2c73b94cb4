"""Why Redis is lost, in the words of whoever runs it, and never with its password."""

from __future__ import annotations

from redis import exceptions

_FORBIDDEN = "the user of the URL may not do what the store needs"

_KINDS: tuple[tuple[type[BaseException], str], ...] = (
    (exceptions.AuthenticationError, "it refuses the name or password of the URL"),
    (exceptions.NoPermissionError, _FORBIDDEN),
    (exceptions.OutOfMemoryError, "its memory is full (maxmemory)"),
    (exceptions.ReadOnlyError, "it is a replica, which takes no writes: give the URL of the primary"),
    (exceptions.BusyLoadingError, "it is loading its data"),
    (exceptions.ClusterDownError, "its cluster is down"),
    (exceptions.MovedError, "it is one node of a cluster, and the key lives on another"),
    (exceptions.TimeoutError, "no answer in time"),
    (TimeoutError, "no answer in time"),
)

# What the server's words begin with where there is no kind of exception.
_BEGINNINGS = (
    ("The user executing the script", _FORBIDDEN),
    ("ACL failure in script", _FORBIDDEN),
    ("MISCONF", "it cannot write to its disk"),
    ("NOREPLICAS", "too few of its replicas are there"),
    ("MASTERDOWN", "its primary is down"),
    ("NOAUTH", "it wants a name or password"),
)


def reason(error: BaseException, secret: str) -> str:
    """The words for an error."""
    text = " ".join(str(error).split())[:200]
    for kind, words in _KINDS:
        if isinstance(error, kind):
            return words
    for beginning, words in _BEGINNINGS:
        if text.startswith(beginning):
            return words
    text = text or type(error).__name__
    return text.replace(secret, "***") if secret else text
