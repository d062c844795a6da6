#!/bin/sh
# Copies the files of a directory: backup.sh SOURCE TARGET
set -eu
. "$(dirname "$0")/../lib/names.sh"

if [ $# -ne 2 ]; then
    echo "usage: backup.sh SOURCE TARGET" >&2
    exit 2
fi
source=$1
target=$2/backup-$(next_number "$2")
mkdir -p "$target"
for file in $(ls "$source"); do
    cp "$source/$file" "$target/$file"
done
echo "$target"
