#!/usr/bin/env bash
# Builds dubio, installs the pinned Python packages beside it, makes the input
# and prints the comparison. Options are handed to peers.py:
#   benches/run.sh [--peers-only] [--reps N] [--json FILE]
# DUBIO=path takes a binary already built; DUBIO_BENCH_DIR moves the scratch
# folder, which holds the packages (up to 6 GB) and the input (200 MB).
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${DUBIO_BENCH_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/dubio-bench}
venv=$cache/venv
binary=${DUBIO:-${CARGO_TARGET_DIR:-$repo/target}/release/dubio}

pins=(
  torch==2.15.0
  torchmetrics==1.9.0
  netcal==1.4.0
  scikit-learn==1.9.1
  scipy==1.17.1
  numpy==2.4.6
)

# The stamp is written last, so an interrupted installation is done again.
if [[ $(cat "$venv/pins" 2>/dev/null) != "${pins[*]}" ]]; then
  mkdir -p "$cache"
  "${PYTHON:-python3}" -m venv --clear "$venv"
  # The Linux build of torch brings 5 GB of GPU libraries and does not import
  # without them, so --no-deps is no way out.
  "$venv/bin/pip" install --quiet "${pins[@]}"
  "$venv/bin/python" -c 'import torch, torchmetrics, netcal, sklearn, scipy'
  echo "${pins[*]}" >"$venv/pins"
fi

if [[ -z ${DUBIO:-} && " $* " != *" --peers-only "* ]]; then
  cargo build --release --manifest-path "$repo/Cargo.toml"
fi
exec "$venv/bin/python" -B "$repo/benches/peers.py" "$cache" --binary "$binary" "$@"
