begin
rm .git/config
mkfifo .git/config
