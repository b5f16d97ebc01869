# The program alone on a small Debian, as a user without rights.
#
#   docker build --tag pith .
#   docker run --rm --volume "$PWD:/data" --user "$(id -u):$(id -g)" pith crawl https://example.org/ --out crawl

FROM rust:1.90-slim-bookworm AS build
WORKDIR /source
COPY . .
RUN cargo install --locked --path . --root /built

FROM debian:bookworm-slim
# HTTPS needs to know whom to trust.
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home --home-dir /data pith
COPY --from=build /built/bin/pith /usr/local/bin/pith
USER pith
WORKDIR /data
VOLUME /data
ENTRYPOINT ["pith"]
CMD ["--help"]
