begin
git remote add origin ssh://git@127.0.0.1:1/acme/widget.git
git config core.sshCommand "$MARK ssh"
git config remote.origin.uploadpack "$MARK uploadpack"
git config remote.origin.receivepack "$MARK receivepack"
