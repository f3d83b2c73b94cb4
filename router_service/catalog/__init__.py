"""Files become snapshots: load, check, watch, import."""
