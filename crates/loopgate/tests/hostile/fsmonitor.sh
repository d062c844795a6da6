begin
git config core.fsmonitor "$MARK fsmonitor"
