begin
git config core.worktree "$OUTSIDE/repository"
