begin
printf '[core]\n\tfsmonitor = %s include\n' "$MARK" > settings
git config include.path ../settings
