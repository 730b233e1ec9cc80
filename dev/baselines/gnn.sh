#!/usr/bin/env bash
# Trains the graph network on blocks, ferry, gripper and visitall, runs its searches on 24 test problems
# of each, and writes records and a table. Needs the binary of homing, bash and awk, nothing else.
#
#     dev/baselines/gnn.sh OUT [HOMING]
#
# Settings, as environment variables with these defaults:
#
#     WIDTH=64 ITERATIONS=300 EPISODES=50 UPDATES=8 LEARNING_RATE=1e-3 SEED=0 PROBLEMS=24 JOBS=(all cores)
#     TRAIN_SECONDS=270  training is cut off after so long, with the iterations done by then; that is said
#     TIME_LIMIT=20      seconds of one search
#     DOMAINS="blocks ferry gripper visitall"
#     SEARCHES="gbfs-h gbfs-v gbfls-h gbfls-v gbfs-h-found gbfs-v-found gbfls-h-found gbfls-v-found"
#
# With the defaults it takes about nine minutes on 16 cores. What is there in OUT is not made again.
set -u
out=${1:?where to write}
homing=${2:-target/release/homing}
: "${WIDTH:=64}" "${ITERATIONS:=300}" "${EPISODES:=50}" "${UPDATES:=8}" "${LEARNING_RATE:=1e-3}" "${SEED:=0}"
: "${PROBLEMS:=24}"
: "${TRAIN_SECONDS:=270}" "${TIME_LIMIT:=20}" "${JOBS:=$(nproc)}"
: "${DOMAINS:=blocks ferry gripper visitall}"
: "${SEARCHES:=gbfs-h gbfs-v gbfls-h gbfls-v gbfs-h-found gbfs-v-found gbfls-h-found gbfls-v-found}"
mkdir -p "$out/models"
count=$(wc -w <<<"$DOMAINS")
threads=$(((JOBS + count - 1) / count))
begin=$(date +%s)

# Problems: the paper's for training, and of its test problems so many spread over them.
for domain in $DOMAINS; do
    for suite in paper-train paper-test; do
        [ -d "$out/$suite-$domain" ] ||
            "$homing" generate --suite $suite --domain "$domain" --out "$out/$suite-$domain" >"$out/generate.log" 2>&1 ||
            { cat "$out/generate.log" >&2; exit 1; }
    done
    if [ ! -d "$out/test/$domain" ]; then
        mkdir -p "$out/test/$domain"
        from=$(dirname "$(find "$out/paper-test-$domain" -name domain.pddl)")
        cp "$from/domain.pddl" "$out/test/$domain/"
        ls "$from"/*.pddl | grep -v /domain.pddl | sort |
            awk -v k="$PROBLEMS" '{ f[NR] = $0 } END { if (k > NR) k = NR; for (i = 0; i < k; i++) print f[int((2 * i + 1) * NR / (2 * k)) + 1] }' |
            xargs -I{} cp {} "$out/test/$domain/"
    fi
done

# Models, all domains side by side.
echo "learning_rate = $LEARNING_RATE" >"$out/gnn.toml"
train() { # domain, iterations
    from=$(dirname "$(find "$out/paper-train-$1" -name domain.pddl)")
    timeout "$TRAIN_SECONDS" "$homing" train --learner gnn --config "$out/gnn.toml" --resume --json \
        --jobs "$threads" --width "$WIDTH" --iterations "$2" --episodes "$EPISODES" --updates "$UPDATES" \
        --seed "$SEED" --checkpoint-every 5 --out "$out/models/$1.safetensors" "$from" \
        >"$out/models/$1.json" 2>>"$out/models/$1.log"
}
for domain in $DOMAINS; do
    train "$domain" "$ITERATIONS" &
done
wait
for domain in $DOMAINS; do
    last=$(tail -n 1 "$out/models/$domain.jsonl")
    if [ ! -f "$out/models/$domain.safetensors" ]; then
        reached=$(sed 's/.*"iteration":\([0-9]*\).*/\1/' <<<"$last")
        echo "$domain: cut off after $reached of $ITERATIONS iterations"
        train "$domain" "$reached"
    fi
    echo "$domain: last iteration $last"
done
echo "training: $(($(date +%s) - begin)) s"

# Searches.
for domain in $DOMAINS; do
    [ -f "$out/models/$domain.safetensors" ] || continue
    "$homing" evaluate --model "$out/models/$domain.safetensors" --search "$(tr ' ' ',' <<<"$SEARCHES")" \
        --jobs "$JOBS" --max-evaluations 100000 --time-limit "$TIME_LIMIT" --out "$out/evaluations.jsonl" \
        "$out/test/$domain" >"$out/evaluate-$domain.log" 2>&1
done
echo "all: $(($(date +%s) - begin)) s"

# Problems solved by domain and search; in brackets those that the time limit ended.
awk -v searches="$SEARCHES" -v domains="$DOMAINS" '
    function field(name) { if (match($0, "\"" name "\":\"[^\"]*\"")) return substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 5); return "" }
    { d = field("domain"); s = field("search"); o = field("outcome"); n[d, s]++; if (o == "solved") solved[d, s]++; if (o == "time-limit") short[d, s]++ }
    END {
        k = split(searches, S, " "); split(domains, D, " ")
        printf "| domain | problems |"; for (i = 1; i <= k; i++) printf " %s |", S[i]; print ""
        printf "|---|---:|"; for (i = 1; i <= k; i++) printf "---:|"; print ""
        for (j = 1; j in D; j++) {
            printf "| %s | %d |", D[j], n[D[j], S[1]]
            for (i = 1; i <= k; i++) { v = solved[D[j], S[i]] + 0; if (n[D[j], S[i]] == 0) v = "-"; if (short[D[j], S[i]]) v = v " (" short[D[j], S[i]] ")"; printf " %s |", v }
            print ""
        }
    }' "$out/evaluations.jsonl" | tee "$out/table.md"
