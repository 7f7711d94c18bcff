# The image of both programs: streams-placement, and streams-placement-certs.
# Pin it further with --build-arg PYTHON=3.13-slim-trixie@sha256:...
ARG PYTHON=3.13-slim-trixie

FROM python:${PYTHON} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
RUN ["python", "-m", "venv", "/opt/streams-placement"]
WORKDIR /build
COPY requirements.lock ./
RUN ["/opt/streams-placement/bin/python", "-m", "pip", "install", "--require-hashes", "--only-binary=:all:", \
     "--requirement", "requirements.lock"]
COPY pyproject.toml README.md LICENSE ./
COPY certs certs
COPY kubeapi kubeapi
COPY webhook webhook
RUN ["/opt/streams-placement/bin/python", "-m", "pip", "install", "--no-deps", "--no-build-isolation", "."]
# Nothing can be installed later; modules are compiled now, since nothing can be written either.
RUN ["/opt/streams-placement/bin/python", "-m", "pip", "uninstall", "--yes", "setuptools", "pip"]
RUN ["/opt/streams-placement/bin/python", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", \
     "/opt/streams-placement/lib"]

FROM python:${PYTHON}
COPY --from=build /opt/streams-placement /opt/streams-placement
ENV PATH=/opt/streams-placement/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER 65532:65532
EXPOSE 8443 8081
ENTRYPOINT ["streams-placement"]
CMD ["serve"]
