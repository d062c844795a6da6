# Runs the setup script $1, unless it is empty, and then the command $2. Keeps the first $3 bytes of their output.
# A separate process reads the output. It ignores SIGTERM and reads to the end, so that neither a full pipe nor a
# background process of the tests delays their exit.
exec > >(trap '' TERM; head -c "$3"; cat > /dev/null) 2>&1
if [ -n "$1" ]; then
  bash "$1" || exit 125
fi
exec bash -c "$2"
