# Sourced before each of the other scripts, which create a hostile repository in the current directory.
# $MARK is a program that must never run: it creates a file with the name of its first argument. No file
# below $OUTSIDE may be read or changed; it contains a repository with a secret.
set -eu
git() { command git -c core.hooksPath=/dev/null -c commit.gpgSign=false "$@"; }
begin() {
  git init -q -b main .
  echo 1 > a
  git add a
  git commit -qm Begin
  echo 2 > a
}
