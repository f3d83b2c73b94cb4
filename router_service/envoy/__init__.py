"""What protoc makes of proto/router_service/envoy: `make generate` writes it, and nobody edits it."""
