begin
echo "$OUTSIDE/repository/.git" > .git/commondir
