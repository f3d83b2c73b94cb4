"""The doors of Envoy: it asks by external authorisation or external processing, and tells by its access log."""
