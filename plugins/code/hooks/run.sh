#!/bin/sh
# Calls a hook of Loopgate: with the program that runs the loop, else with the one on the search path.

# Stops the command that the user typed, with a reason for the user.
stop() {
    printf '{"continue": false, "stopReason": "%s"}\n' "$1"
    exit 0
}

program="${LOOPGATE_BIN:-loopgate}"
if [ "$1" = prompt-expansion ]; then
    command -v "$program" >/dev/null 2>&1 ||
        stop "This command needs the program loopgate on the PATH: clone Loopgate's repository, run 'cargo install --path crates/loopgate' in it, and type the command again."
    "$program" hook "$1" && exit 0
    stop "The program loopgate does not know this command. Install a version of loopgate that is as new as the plugin, run 'loopgate plugins install', and start the assistant again."
fi

# The driver marks its sessions in the environment, /code:code those that a user started. In all others there is nothing
# to do. The input is read to its end, because the assistant reports an error if it cannot write it.
if [ -z "$LOOPGATE_RUN_ID$LOOPGATE_LOOP_ID" ] &&
    [ ! -e "${CLAUDE_PROJECT_DIR:-.}/.loopgate/session-$CLAUDE_CODE_SESSION_ID.workdir" ]; then
    exec cat >/dev/null
fi

# These two only deliver messages of the user. The directory exists only while there are any, so that no program is started
# after each tool.
case "$1" in
post-tool-use | stop) [ -d "$LOOPGATE_MESSAGES" ] || exec cat >/dev/null ;;
esac

if command -v "$program" >/dev/null 2>&1; then
    "$program" hook "$1" && exit 0
    echo "The hook $1 of the plugin 'code' failed." >&2
else
    echo "The hook $1 of the plugin 'code' did not run: the program '$program' is missing." >&2
fi
# Within a loop no tool is used unchecked; exit code 2 refuses this one.
if [ "$1" = pre-tool-use ]; then
    exit 2
fi
exit 1
