echo "gitdir: $OUTSIDE/repository/.git" > .git
echo 2 > secret
