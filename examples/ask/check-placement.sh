#!/bin/sh
# A step of a pipeline: fails if a manifest would be refused, and says which and why.
#
#   sh check-placement.sh MANIFESTS --snapshot FOLDER      against a snapshot, without a cluster
#   sh check-placement.sh MANIFESTS --server               as the webhook of the cluster answers
#
# MANIFESTS is a file, a folder or - for standard input, such as what `kubectl kustomize` or `helm template` print.
# Exit codes: 0 all are admitted, 1 one is refused, 2 something cannot be read, 3 the cluster does not answer.
set -eu
manifests=$1
shift
verdicts=$(mktemp)
trap 'rm -f "$verdicts"' EXIT

code=0
streams-placement explain -R -f "$manifests" -o json "$@" > "$verdicts" || code=$?
if [ "$code" -gt 1 ]; then
  echo "placement was not checked" >&2
  exit "$code"
fi
python3 - "$verdicts" <<'END'
import json, sys

answers = json.load(open(sys.argv[1]))
refused = [answer for answer in answers if answer["verdict"] == "refused"]
for answer in refused:
    print(f"REFUSED {answer['origin']} in namespace {answer['namespace']}:")
    print("\n".join(f"  {line}" for line in answer["message"].splitlines()))
print(f"{len(answers)} checked, {len(refused)} refused")
END
exit "$code"
