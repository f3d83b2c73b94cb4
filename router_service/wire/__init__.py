"""Between the wire and the domain: the only place where both are known."""
