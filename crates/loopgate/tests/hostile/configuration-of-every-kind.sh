begin
git remote add origin http://127.0.0.1:1/acme/widget.git
git config http.sslVerify false
git config http.curloptResolve github.com:443:127.0.0.1
git config http.proxy http://127.0.0.1:1
git config http.sslCAInfo "$OUTSIDE/repository/secret"
git config core.excludesFile "$OUTSIDE/repository/secret"
git config credential.https://github.com.helper "!$MARK helper"
git config url.ext::"$MARK insteadOf ".insteadOf http://
git config protocol.ext.allow always
git config core.gitProxy "$MARK proxy"
git config pull.twoHead evil
git config later.release "$MARK later"
