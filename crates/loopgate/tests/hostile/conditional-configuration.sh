begin
echo '* filter=evil' > .gitattributes
printf '[filter "evil"]\n\tclean = %s clean\n\tsmudge = %s smudge\n' "$MARK" "$MARK" > .git/more
for condition in 'gitdir:/proc/**' 'gitdir:**/worktrees/**' 'onbranch:topic'; do
  printf '[includeIf "%s"]\n\tpath = more\n' "$condition" >> .git/config
done
