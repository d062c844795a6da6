#!/bin/sh
# Calls a hook of Loopgate: with the program that runs the loop, else with the one on the search path.
program="${LOOPGATE_BIN:-loopgate}"
if command -v "$program" >/dev/null 2>&1; then
    "$program" hook "$1" && exit 0
    echo "The hook $1 of the plugin 'code' failed." >&2
else
    echo "The hook $1 of the plugin 'code' did not run: the program '$program' is missing." >&2
fi
# Within a loop no tool is used unchecked; exit code 2 refuses this one.
if [ "$1" = pre-tool-use ] && [ -n "$LOOPGATE_RUN_ID" ]; then
    exit 2
fi
exit 1
