begin
mkdir sub
git init -q --bare sub/inner
mv sub/inner/HEAD sub/inner/objects sub/inner/refs sub/
rm -r sub/inner
printf '[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = %s bare\n' "$MARK" > sub/config
echo x > sub/objects/keep
echo x > sub/refs/keep
git add sub
git commit -qm Sub
