"""The shared store: Valkey or Redis 7, for several instances of the service (docs/stores.md)."""

from router_service.store.redis.store import RedisStore

__all__ = ["RedisStore"]
