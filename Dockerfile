# The service without tools to build with: an environment of locked wheels is made in a first stage and copied over.
#
#   docker build --tag router-service .
#   docker run --read-only router-service                                  a sidecar: its pod reaches 127.0.0.1:50051
#   docker run --read-only --publish 127.0.0.1:50051:50051 router-service serve --listen 0.0.0.0:50051 --insecure
#   docker run --read-only --volume ./catalog:/catalog:ro --env ROUTER_SERVICE_CATALOG=/catalog router-service
#   docker run --read-only --volume router:/data --env ROUTER_SERVICE_STORE=sqlite:/data/router.db router-service
#
# Without a volume there is nowhere to keep budgets and traces, so the image has no store unless it is given one.
#
# tools/try_dockerfile.py runs these steps without an engine, in folders of their own.

# Whoever wants builds that repeat gives it with its digest: --build-arg BASE=python:3.11-slim-bookworm@sha256:…
ARG BASE=python:3.11-slim-bookworm

FROM ${BASE} AS build
WORKDIR /build
COPY requirements.txt ./
RUN python -m venv --without-pip /opt/router-service \
    && python -m pip --python /opt/router-service/bin/python install --no-cache-dir --no-deps --require-hashes --only-binary :all: --requirement requirements.txt
COPY pyproject.toml LICENSE README.md ./
COPY router_service ./router_service
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels . \
    && python -m pip --python /opt/router-service/bin/python install --no-cache-dir --no-deps --no-index --find-links /wheels router-service

FROM ${BASE}
LABEL org.opencontainers.image.title="router-service" \
      org.opencontainers.image.description="Decides which LLM endpoint a request may go to, and in which order to fall back." \
      org.opencontainers.image.licenses="Apache-2.0"
# The base image brings its own installers, which nothing needs here.
RUN python -m pip uninstall --yes --root-user-action ignore setuptools wheel pip
COPY --from=build /opt/router-service /opt/router-service
ENV PATH="/opt/router-service/bin:$PATH" \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    ROUTER_SERVICE_STORE=none
# No name, no home, no shell: a number suffices, and Kubernetes can check it (runAsNonRoot).
USER 65532:65532
EXPOSE 50051
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 CMD ["router-service", "health", "--timeout", "2"]
ENTRYPOINT ["router-service"]
# Loopback: plain gRPC to any other address is refused, unless --insecure says that something else guards it.
CMD ["serve"]
