# The image of both programs: streams-placement, and streams-placement-certs. docs/releasing.md says how to build it with
# docker, podman, buildah or kaniko, and how to take a newer base. The digest is that of the index of all platforms.
ARG PYTHON=3.13.15-slim-trixie@sha256:9d2e5553305c7c7b0097999bb17187c69b921ccd6bc9d40e4bb5ebe652c00285

FROM python:${PYTHON} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore PYTHONDONTWRITEBYTECODE=1
RUN ["python", "-m", "venv", "/opt/streams-placement"]
WORKDIR /build
COPY requirements.lock ./
# Libraries come as wheels, so that nothing needs a compiler. pip would compile modules for the times of their files, which
# layers need not keep; what makes the image compiles them for their content.
RUN ["/opt/streams-placement/bin/python", "-m", "pip", "install", "--require-hashes", "--only-binary=:all:", "--no-compile", \
     "--requirement", "requirements.lock"]
COPY pyproject.toml README.md LICENSE ./
COPY certs certs
COPY examples examples
COPY kubeapi kubeapi
COPY webhook webhook
RUN ["/opt/streams-placement/bin/python", "-m", "pip", "install", "--no-deps", "--no-build-isolation", "--no-compile", "."]
# What no program imports goes:
# pygments, which rich has to colour sources, for which nothing here asks; tests, types and sources of libraries; parts of
# numpy; pydantic's copy of its version 1; the second copy of HiGHS, which a wheel has for lack of links; extensions of CEL that
# selectors of devices do not have, and the build of its wheel (bazel-project). Symbols, which only debuggers read, are cut. The
# bill of materials leaves out what pip uninstalls here.
COPY tools/image tools/image
RUN /opt/streams-placement/bin/python -m pip uninstall --quiet --yes pygments setuptools pip \
 && find /opt/streams-placement/lib -path '*/numpy/*' -type d -name tests -prune -exec rm -r {} + \
 && find /opt/streams-placement/lib -type d -regex '.*/\(numpy/\(f2py\|fft\|ma\|polynomial\|random\|testing\)\|pydantic/v1\)' -prune -exec rm -r {} + \
 && find /opt/streams-placement/lib -type f -regex '.*/numpy/_core/_\(simd\|.*_tests\)\..*' -delete \
 && find /opt/streams-placement/lib -type f -name 'libhighs.so.*.*' -delete \
 && find /opt/streams-placement/lib -type f '(' -name '*.py[ix]' -o -name '*.pxd' -o -name '*.[ch]' ')' -delete \
 && find /opt/streams-placement/lib -type f -regex '.*/cel_expr_python/ext/ext_\(encoders\|math\|proto\)\..*' -delete \
 && rm -rf /opt/streams-placement/lib/python3.*/site-packages/bazel-project \
 && python -m tools.image.symbols /opt/streams-placement/lib
# Then the image: the programs, and out of the base no more than what they need. A shared library that is missing is an error.
RUN ["/opt/streams-placement/bin/python", "-m", "tools.image", "/image"]

FROM scratch AS image
ENV PATH=/opt/streams-placement/bin PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
COPY --from=build /image /

# What is missing would show when it is imported: all modules are imported, and a real server is asked. The last stage copies
# a file from here, so no builder skips this stage.
FROM image AS checked
COPY tools/image /check/tools/image
COPY image.cdx.json /check/
WORKDIR /check
USER 65532:65532
RUN ["python", "-m", "tools.image.self_check"]

FROM image
# The bill of materials, where scanners look for such; what is of Debian is in the database of dpkg.
COPY --from=checked /check/image.cdx.json /opt/streams-placement/share/streams-placement.cdx.json
ARG VERSION=""
ARG REVISION=""
LABEL org.opencontainers.image.title="streams-placement" \
      org.opencontainers.image.description="Kubernetes admission webhook and controller for the host constraints of stream-processing jobs" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
USER 65532:65532
EXPOSE 8443 8081
ENTRYPOINT ["streams-placement"]
CMD ["serve"]
