begin
# The user's own configuration may contain the filter of git-lfs, which reads this file of the working tree.
printf '[lfs]\n\turl = file://%s/repository\n' "$OUTSIDE" > .lfsconfig
echo '*.bin filter=lfs diff=lfs merge=lfs -text' > .gitattributes
git config remote.origin.lfsurl "file://$OUTSIDE/repository"
git add -A
git commit -qm Server
