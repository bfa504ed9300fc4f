# The compiler stays in the first stage; what ships is the program on a small Debian, as a user without rights.
FROM rust:1.95-slim-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked --bin elbowroom

FROM debian:bookworm-slim
COPY --from=build /src/target/release/elbowroom /usr/local/bin/elbowroom
USER 65532:65532
EXPOSE 10261
ENTRYPOINT ["/usr/local/bin/elbowroom"]
CMD ["run"]
