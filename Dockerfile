# cb alone, to be copied into an image that has the commands to run:
# COPY --from=ghcr.io/OWNER/cb /usr/local/bin/cb /usr/local/bin/cb
FROM scratch
ARG TARGETPLATFORM
COPY $TARGETPLATFORM/cb /usr/local/bin/cb
ENTRYPOINT ["/usr/local/bin/cb"]
