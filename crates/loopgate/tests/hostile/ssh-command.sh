begin
git remote add origin ssh://git@localhost/acme/widget.git
git config core.sshCommand "$MARK ssh"
git config remote.origin.uploadpack "$MARK uploadpack"
git config remote.origin.receivepack "$MARK receivepack"
