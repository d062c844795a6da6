begin
git init -q --bare "$PWD/.git/target.git"
printf '#!/bin/sh\nexec %s target-hook\n' "$MARK" > .git/target.git/hooks/pre-receive
chmod +x .git/target.git/hooks/pre-receive
mkdir -p .git/remotes .git/branches
printf 'URL: %s\nPush: refs/heads/main:refs/heads/main\n' "$PWD/.git/target.git" > .git/remotes/origin
echo "$PWD/.git/target.git" > .git/branches/theirs
git config branch.main.remote origin
git config branch.main.merge refs/heads/main
