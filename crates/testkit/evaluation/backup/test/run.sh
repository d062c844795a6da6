#!/bin/sh
# Tests of backup.sh. Prints the first one that fails.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $1" >&2
    exit 1
}

mkdir "$work/source"
echo one > "$work/source/one.txt"
sh bin/backup.sh "$work/source" "$work/target" > "$work/output"
[ "$(cat "$work/output")" = "$work/target/backup-1" ] || fail "the place of the backup is printed"
[ "$(cat "$work/target/backup-1/one.txt")" = one ] || fail "files are copied"

sh bin/backup.sh "$work/source" "$work/target" > /dev/null
[ -e "$work/target/backup-2/one.txt" ] || fail "the next backup has the next number"

if sh bin/backup.sh "$work/source" 2> /dev/null; then
    fail "a missing target is refused"
fi
echo passed
