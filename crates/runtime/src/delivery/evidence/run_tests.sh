# Runs the set-up script $1, when there is one, and then the command $2, and keeps the first $3 bytes of what they
# print. The output is read by a process of its own, which goes on to the end of it when everything is told to end:
# what the tests leave running does not delay their exit.
exec > >(trap '' TERM; head -c "$3"; cat > /dev/null) 2>&1
if [ -n "$1" ]; then
  bash "$1" || exit 125
fi
exec bash -c "$2"
