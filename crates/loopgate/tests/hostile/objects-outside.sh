begin
echo "$OUTSIDE/repository/.git/objects" > .git/objects/info/alternates
git update-ref refs/heads/theirs "$(command git -C "$OUTSIDE/repository" rev-parse HEAD)"
