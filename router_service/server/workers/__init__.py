"""Several processes behind one port: a small supervisor, and workers, each a server of its own (docs/operating.md)."""
