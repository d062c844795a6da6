begin
ln -s /dev/zero package.json
ln -s "$OUTSIDE/repository/secret" README.md
mkdir -p .github .loopgate
ln -s "$OUTSIDE/repository/secret" .github/pull_request_template.md
ln -s "$OUTSIDE/repository" .loopgate/work
ln -s "$OUTSIDE/repository" .loopgate/attachments
ln -s "$OUTSIDE/repository" .loopgate/chat-history
ln -s "$OUTSIDE/repository" src
git add -A
git commit -qm Links
