# Sourced before each of these: they make a hostile repository in the current directory. $MARK is a
# program that must never run: it leaves a file named after its first argument. Nothing below $OUTSIDE
# may be read or changed; a repository with a secret lies there.
set -eu
git() { command git -c core.hooksPath=/dev/null -c commit.gpgSign=false "$@"; }
begin() {
  git init -q -b main .
  echo 1 > a
  git add a
  git commit -qm Begin
  echo 2 > a
}
