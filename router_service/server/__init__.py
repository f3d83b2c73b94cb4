"""The gRPC server: services, health, metrics, admin page, and the composition root in app.py."""
