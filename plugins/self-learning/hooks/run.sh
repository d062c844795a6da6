#!/bin/sh
# Calls a hook of Loopgate if the user has switched learnings on in sessions. The file is only tested and not opened, and a
# file in a repository cannot switch them on. Loops have hooks of their own.
if [ ! -e "$HOME/.loopgate/learnings/in-sessions" ] || [ -n "$LOOPGATE_RUN_ID$LOOPGATE_LOOP_ID" ] ||
    ! command -v loopgate >/dev/null 2>&1; then
    # The assistant reports an error if it cannot write the input.
    exec cat >/dev/null
fi
# Learnings are best-effort: a failure must not disturb the session.
loopgate hook "$1" || exit 0
