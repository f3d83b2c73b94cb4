"""Health: reports → circuits and observed figures → what decisions see of an endpoint."""
