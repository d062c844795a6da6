begin
git init -q --bare "$PWD/.git/target.git"
printf '#!/bin/sh\nexec %s target-hook\n' "$MARK" > .git/target.git/hooks/pre-receive
chmod +x .git/target.git/hooks/pre-receive
git remote add origin "$PWD/.git/target.git"
git remote add theirs "$OUTSIDE/repository"
git config remote.origin.pushurl "$OUTSIDE/repository"
