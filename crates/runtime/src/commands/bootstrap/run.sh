#!/usr/bin/env bash
# Lets the assistant look at one repository after the other. One that fails stops no other: what became
# of each stands in a file of its own.

# bootstrap <number> <repository> <prompt> <arguments of the assistant>...
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

