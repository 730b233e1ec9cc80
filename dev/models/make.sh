#!/bin/sh
# Makes the models of models/ anew, each with the command that models/README.md gives.
#
#     dev/models/make.sh TRACK [NAME...]
#
# TRACK has a folder for each domain of the learning track. NAME is paper/blocks, learning/ferry and
# so on; without names all are made. HOMING names the binary. The same version gives the same bytes.
set -eu

homing=${HOMING:-target/release/homing}
track=$1
shift
root=$(dirname "$0")/../..
problems=$(mktemp -d)
trap 'rm -r "$problems"' EXIT
mkdir -p "$root/models/paper" "$root/models/learning"

wanted() {
    [ -z "$names" ] && return 0
    case " $names " in *" $1 "*) return 0 ;; esac
    return 1
}

names=$*
for domain in blocks ferry gripper logistics miconic parking satellite visitall; do
    wanted paper/$domain || continue
    "$homing" generate --suite paper-train --domain $domain --out "$problems" >/dev/null
    echo "== paper/$domain"
    "$homing" train --out "$root/models/paper/$domain.safetensors" "$problems/$domain"
done
for domain in blocksworld childsnack ferry floortile miconic rovers satellite sokoban spanner transport; do
    wanted learning/$domain || continue
    echo "== learning/$domain"
    "$homing" train --out "$root/models/learning/$domain.safetensors" "$track/$domain"
done
