begin
# Git takes the directory " records" for the git directory, whose name begins with a blank.
cp -R .git " records"
mv .git records
echo "gitdir:  records" > .git
git config -f " records/config" diff.external "$MARK external"
git config -f " records/config" filter.evil.clean "$MARK clean"
echo '* filter=evil' > .gitattributes
