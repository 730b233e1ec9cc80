# `just` lists the recipes.
default:
    @just --list

# The gate: formatting, lints, tests.
ci:
    .ci/run

# The README's test command.
test:
    cargo test --workspace --locked

# Benchmarks (criterion).
bench:
    cargo bench --workspace

# Format everything.
fmt:
    cargo fmt --all

# Accept changed message snapshots after reading them.
accept-snapshots:
    INSTA_UPDATE=always cargo test --workspace

# Licences, advisories and sources of dependencies, as deny.toml says. Installs cargo-deny if it is
# missing (some minutes, once).
deny:
    cargo deny --version >/dev/null 2>&1 || cargo install --locked cargo-deny
    cargo deny check
