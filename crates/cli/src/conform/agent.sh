#!/bin/sh
# The agent of the conformance suite. Every call leaves a folder: who was called, with what, when, and what there was.
set -u
here=$(dirname "$0")
number=1
while ! mkdir "$here/calls/$number" 2>/dev/null; do
    [ -d "$here/calls/$number" ] || exit 70
    number=$((number + 1))
done
call=$here/calls/$number
: >"$call/began"
trap ': >"$call/over"' EXIT
role=${SERIATIM_STEP:-}
cat >"$call/prompt"
cp "${SERIATIM_BRIEF:-/dev/null}" "$call/brief.json"
ls "$here"/work/.snapshots/*/manifest.json >"$call/snapshots" 2>/dev/null
printf '%s' "$role" >"$call/role"

# Which call of this role it is.
n=0
for known in "$here"/calls/*/role; do
    if [ "$(cat "$known")" = "$role" ]; then n=$((n + 1)); fi
done

# write PATH TEXT
write() {
    mkdir -p "$(dirname "$1")"
    printf '%s\n' "$2" >"$1"
}

# finish [OUTPUTS]: reports that the work is done.
finish() {
    outputs=${1:-'{}'}
    printf '{"status": "done", "summary": "%s is done", "outputs": %s}\n' "$role" "$outputs" >"$SERIATIM_REPORT"
}

# fail CLASS MESSAGE: reports a failure, transient or permanent.
fail() {
    printf '{"status": "failed", "summary": "%s", "error": {"class": "%s", "message": "%s"}}\n' \
        "$2" "$1" "$2" >"$SERIATIM_REPORT"
}

. "$here/play.sh"
