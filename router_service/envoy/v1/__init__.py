"""What protoc makes of proto/router_service/envoy/v1: `make generate` writes it, and nobody edits it."""
