begin
mkdir -p .claude
for name in CLAUDE.md CLAUDE.local.md AGENTS.md .claude/CLAUDE.md; do
  ln -s "$OUTSIDE/repository/secret" "$name"
done
ln -s "$OUTSIDE/repository" .claude/rules
git add -A
git commit -qm Instructions
