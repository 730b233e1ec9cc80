#!/bin/sh
# The evaluations of docs/results/training.md: models of the first three seeds and their base heuristics on fresh problems.
#
#     dev/training/fresh.sh RESULTS [--jobs N]
#
# RESULTS is the folder of an experiment that trained them (experiments/table2-goals.toml). Problems come from seeds that no suite
# uses, ten of each size, all larger than any in training; records go to RESULTS/fresh/evaluations.jsonl. Killed and started
# again it does only what is missing. HOMING names the binary, DOMAINS some of the three domains.
set -eu

homing=$(realpath "${HOMING:-target/release/homing}")
cd "$1"
shift

# fresh DOMAIN SIZE HEURISTICS FLAG... [-- OPTION...]: flags for `generate`, then options for `evaluate`
fresh() {
    domain=$1 folder=fresh/$1-$2 heuristics=$3
    shift 3
    flags=
    while [ "$1" != -- ]; do
        flags="$flags $1"
        shift
    done
    shift
    for heuristic in $heuristics; do
        for model in models/"$domain-$heuristic"-[012]-*.safetensors; do
            set -- --model "$model" "$@"
        done
        set -- --heuristic "$heuristic" "$@"
    done
    # shellcheck disable=SC2086
    [ -d "$folder" ] || "$homing" generate "$domain" $flags --seeds 7000000..7000010 --out "$folder"
    "$homing" evaluate --max-evaluations 100000 "$@" --out fresh/evaluations.jsonl "$folder"
}

for domain in ${DOMAINS:-blocks ferry gripper}; do
    case $domain in
    blocks)
        for n in 10 15 20 25 30; do
            fresh blocks $n "blind add ff" --blocks $n -- "$@"
        done
        ;;
    # Without a heuristic on the smaller sizes only: there every failure costs 100,000 evaluations of a large network.
    ferry)
        for n in 7 8 9 10 11; do
            fresh ferry $n "blind add ff" --cars $n --locations $n -- "$@"
        done
        for n in 15 20 25 30; do
            fresh ferry $n "add ff" --cars $n --locations $n -- "$@"
        done
        ;;
    gripper)
        for n in 12 14 16 18 20; do
            fresh gripper $n "blind add ff" --balls $n -- "$@"
        done
        for n in 30 40 50 60; do
            fresh gripper $n "add ff" --balls $n -- "$@"
        done
        ;;
    esac
done
