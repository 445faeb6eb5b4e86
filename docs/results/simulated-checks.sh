#!/usr/bin/env bash
# The simulated data of Gopal 2021, sec. 4.1: trains what suites/gopal-simulated.toml says and prints
# posterior predictive checks, inside and outside of what was learnt from. Needs `dubio` on the path.
# Runs go to the folder that is named; what is there already is not done again.
#   docs/results/simulated-checks.sh RUNS
set -euo pipefail
suite=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/suites/gopal-simulated.toml
dubio run "$suite" --runs "$1" >&2

dubio runs list --runs "$1" | while read -r id method _; do
  for mode in independent bayesian; do
    for split in test ood.parabola-gap-test; do
      printf '\n%s, %s, %s\n' "$method" "$mode" "$split"
      dubio check "$1/$id/$split.npz" --mode "$mode" --rule range --statistic quantile_calibration,picp,nll
    done
  done
done
