begin
for directory in "$OUTSIDE"/repository/.git/objects/[0-9a-f][0-9a-f]; do
  [ -e ".git/objects/${directory##*/}" ] || ln -s "$directory" .git/objects/
done
ln -s "$OUTSIDE/repository/.git/refs/heads/main" .git/refs/heads/theirs
