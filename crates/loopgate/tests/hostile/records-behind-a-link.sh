ln -s "$OUTSIDE/repository/.git" .git
