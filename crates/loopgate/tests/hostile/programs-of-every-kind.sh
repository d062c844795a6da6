begin
git remote add origin http://127.0.0.1:1/acme/widget.git
for name in core.askPass core.editor core.pager core.gitProxy core.alternateRefsCommand sequence.editor gpg.program \
  gpg.ssh.program credential.helper pager.status pager.diff pager.branch interactive.diffFilter \
  uploadpack.packObjectsHook alias.status alias.rev-parse; do
  git config "$name" "!$MARK $name"
done
git config commit.gpgSign true
git config http.cookieFile "$OUTSIDE/cookies"
git config http.saveCookies true
