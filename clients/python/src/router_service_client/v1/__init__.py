"""What protoc makes of proto/router_service/v1: `make generate` writes it, and nobody edits it."""
