#!/usr/bin/env bash
# Trains MLP 784-200-200-10 on MNIST by the methods of Vadera et al. 2020, at the settings of its
# appendix D, and by others, and scores them. Needs `dubio` on the path, and MNIST, Fashion-MNIST and
# KMNIST below $DUBIO_DATA. Files go to the folder that is named, scores to NAME-scores.json; what is
# there already is not done again. About five hours on two cores.
#   docs/results/mnist-methods.sh FOLDER [SEED]
set -euo pipefail
mkdir -p "$1"
cd "$1"
seed=${2:-0}

run() {
  local name=$1 method=$2
  shift 2
  if [[ ! -f $name.json ]]; then
    dubio train "$method" --data mnist --network mlp "${@/#/--set=}" --seed "$seed" -o "$name.npz" \
      --also "fashion-mnist:test=$name-fashion.npz" --also "kmnist:test=$name-kmnist.npz" \
      --checkpoints "$name.checkpoints" --record "$name.json" >&2
    rm -r "$name.checkpoints"
  fi
  dubio evaluate "$name.npz" --ood "fashion=$name-fashion.npz" --ood "kmnist=$name-kmnist.npz" \
    --json >"$name-scores.json"
}

all=(samples=100)
falls=(schedule=cosine:0.5)
cycles=("${all[@]}" prior_std=0.33 cycle_epochs=22 noise_epochs=5 cycle_samples=4)
cold=(temperature=1.6666666666666667e-5) # 1 / 60000, what noise divided by N comes to
plain=(epochs=50 lr=0.05 prior_std=0.2)  # the paper does not give these
swag=(lr=0.018 schedule=flat-then-linear:0.03333333333 epochs=50 collect_lr=0.0006 collect_epochs=30
  collect=20 momentum=0.7 prior_std=0.2)
subspace=("${all[@]}" lr=0.04 schedule=flat-then-linear:0.05 epochs=50 collect_lr=0.002
  collect_epochs=50 collect=20 rank=20 momentum=0.54 temperature=5000)

run sgd sgd "${plain[@]}"
run deep-ensemble deep-ensemble members=5 "${plain[@]}"
run snapshot snapshot samples=5 cycle_epochs=22 lr=0.06 prior_std=0.2
run fge fge samples=10 "${plain[@]}"
run swa swa "${plain[@]}"
run swag-diagonal swag "${all[@]}" covariance=diagonal "${swag[@]}"
run swag-full swag "${all[@]}" covariance=full "${swag[@]}"
run mc-dropout mc-dropout "${all[@]}" rate=0.04 "${plain[@]}"
run gaussian-dropout gaussian-dropout "${all[@]}" rate=0.04 "${plain[@]}"
run sgld-T1 sgld "${all[@]}" lr=0.099 prior_std=0.16 burn_in=50 "${falls[@]}"
run sgld-cold sgld "${all[@]}" lr=0.099 prior_std=0.16 burn_in=50 "${falls[@]}" "${cold[@]}"
run sghmc-T1 sghmc "${all[@]}" lr=0.03 prior_std=0.14 burn_in=50 friction=0.1 "${falls[@]}"
run sghmc-cold sghmc "${all[@]}" lr=0.03 prior_std=0.14 burn_in=50 friction=0.1 "${falls[@]}" "${cold[@]}"
run csgld-T1 csgld lr=0.06 "${cycles[@]}"
run csgld-cold csgld lr=0.06 "${cycles[@]}" "${cold[@]}"
run csgld-fast-T1 csgld lr=0.3 "${cycles[@]}"
run csgld-fast-cold csgld lr=0.3 "${cycles[@]}" "${cold[@]}"
run csghmc-T1 csghmc lr=0.06 "${cycles[@]}" friction=0.21
run csghmc-cold csghmc lr=0.06 "${cycles[@]}" friction=0.21 "${cold[@]}"
run subspace subspace "${subspace[@]}" prior_std=0.2
run subspace-narrow subspace "${subspace[@]}" prior_std=0.12
# The paper gives no settings of HMC; the prior is that of its code.
run hmc hmc "${all[@]}" burn_in=10 leapfrog=30 step=0.001 prior_std=0.1 \
  'warm_up={"method":"sghmc","samples":1,"lr":0.03,"prior_std":0.1,"burn_in":100,"friction":0.1,"schedule":"cosine:0.5"}'
# The temperature that the code's momenta come to; its trajectories, and its start, which takes most of the time.
code=("${all[@]}" leapfrog=40 step=0.000209 target_acceptance=0 prior_std=0.1 temperature=0.1919)
run hmc-code hmc "${code[@]}" burn_in=200
run hmc-cold hmc "${code[@]}" burn_in=20 \
  'warm_up={"method":"sghmc","samples":1,"lr":0.03,"prior_std":0.1,"burn_in":100,"friction":0.1,"schedule":"cosine:0.5","temperature":0.1919}'
run nuts-last nuts "${all[@]}" layers=last prior_std=0.2 \
  'warm_up={"method":"sgd","epochs":50,"lr":0.05,"prior_std":0.2}'
# HMC begins where a chain of SGHMC at the same prior has come to: from random numbers, or from a minimum,
# its burn-in would be days.
[[ -d weights ]] || dubio train sghmc --data mnist --network mlp --seed "$seed" -o start.npz --weights weights \
  --set samples=100 --set lr=0.03 --set prior_std=0.14 --set burn_in=50 --set friction=0.1 --set schedule=cosine:0.5 >&2
run hmc-wide hmc "${all[@]}" burn_in=10 leapfrog=20 step=0.001 prior_std=0.14 start=weights/99.safetensors
