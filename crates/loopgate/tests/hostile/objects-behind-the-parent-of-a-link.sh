begin
# The sandbox removes `link/..`, git follows the link.
mkdir -p repository/.git/objects
ln -s "$OUTSIDE/repository" link
echo '../../link/../repository/.git/objects' > .git/objects/info/alternates
git update-ref refs/heads/theirs "$(command git -C "$OUTSIDE/repository" rev-parse HEAD)"
