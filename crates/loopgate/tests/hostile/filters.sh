begin
echo '* filter=evil diff=evil merge=evil' > .gitattributes
git config filter.evil.clean "$MARK clean"
git config filter.evil.smudge "$MARK smudge"
git config filter.evil.process "$MARK process"
git config diff.evil.textconv "$MARK textconv"
git config diff.evil.command "$MARK diff-command"
git config diff.external "$MARK external"
git config merge.evil.driver "$MARK merge"
