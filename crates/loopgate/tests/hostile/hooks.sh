begin
for hook in applypatch-msg commit-msg fsmonitor-watchman post-checkout post-commit post-index-change post-merge \
  post-rewrite pre-commit pre-merge-commit prepare-commit-msg pre-push pre-rebase reference-transaction; do
  printf '#!/bin/sh\nexec %s hook-%s\n' "$MARK" "$hook" > ".git/hooks/$hook"
  chmod +x ".git/hooks/$hook"
done
