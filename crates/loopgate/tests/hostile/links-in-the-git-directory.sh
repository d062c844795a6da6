begin
# Git appends to a log, and truncates the others.
rm .git/logs/HEAD .git/COMMIT_EDITMSG
for file in logs/HEAD logs/refs/heads/topic FETCH_HEAD COMMIT_EDITMSG; do
  ln -s "$OUTSIDE/repository/secret" ".git/$file"
done
git remote add origin http://127.0.0.1:1/acme/widget.git
