#!/usr/bin/env bash
# Runs the assistant in one repository after the other. A failure does not stop the script: the outcome of
# repository N is written to repo-N-done.

# bootstrap <number> <repository> <prompt> <assistant argument>...
bootstrap() {
  local files="$LOOPGATE_WORKDIR/repo-$1" repository="$2" prompt="$3" outcome=ok
  shift 3
  : > "$files-begun"
  mkdir -p "$files-agents"
  if cd "$repository"; then
    printf '%s' "$prompt" > "$files-prompt.txt"
    loopgate loop assistant -- "$@" < "$files-prompt.txt" 2> "$files-stderr.log" || outcome="fail:$?"
  else
    outcome=fail:cd
  fi
  printf '%s' "$outcome" > "$files-done"
}

