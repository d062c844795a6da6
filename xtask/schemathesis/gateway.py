"""Hooks of schemathesis for the gateway: values that exist in the sandbox, and a check of the responses."""

import schemathesis

from values import each, known_of, number_of

# Values for members of requests. With random values, nearly every request would fail at the first
# validation.
REPOSITORIES = [
    "~/src/shop", "~/src/shop/", "~/src/worktrees/shop-AB-1", "~/src/bare.git", "~/src/unborn",
    "~/src/plain", "~/src", "~/src/none", "~", "/", "/etc", "~/src/../..", "shop",
]
KNOWN = {
    "repo": REPOSITORIES,
    "repoPath": REPOSITORIES,
    "path": REPOSITORIES,
    "workDir": REPOSITORIES,
    "worktreePath": ["~/src/worktrees/shop-AB-2", "~/src/plain", "~/src/shop", "~/src", "~/src/none"],
    "worktreeParentDir": ["~/src/worktrees", "~/src", "/etc", "~/elsewhere"],
    "filePath": ["README.md", "theme.js", "../shop/README.md", "none", ".git/config", "sub/.."],
    "action": ["status", "branch", "commit", "push", "pull", "branch-diff", "sync-status"],
    "branchName": ["dark-theme", "main", "feature/new one", "-x", "AB-1"],
    "baseBranch": ["main", "dark-theme", "none", "--all"],
    "headBranch": ["main", "dark-theme", "AB-1", "none"],
    "repoFullName": ["acme/shop", "Acme/Shop", "acme/none", "acme"],
    "ticketId": ["AB-1", "AB-2", "AB-3", "..", "a/b"],
    "ticket": ["AB-1", "AB-2", "AB-3", "..", "a/b"],
    "attachmentPath": ["AB-1/screen.png", "AB-1/none.png", "AB-1/../../../README.md", "AB-1", "AB-1/"],
    "range": ["bytes=0-7", "bytes=-1", "bytes=9999-", "bytes=0-0,2-3", "bytes=x"],
    "owner": ["acme", "Acme", "other"],
    "number": ["1", "2", "0", "99999999999"],
    "pr": ["1", "2", "0", "x"],
    "branchId": ["acme%2Fshop::dark-theme", "acme%2Fother::x", "local::x"],
    "state": ["open", "merged", "closed"],
    "base": ["true", "false"],
    "query": ["theme", "src/", "*", "t.s", ".."],
    "runDir": ["/tmp/run-viewer-0b8f6a3e-5f0c-4c1e-9a57-2f7f0f5f6c11", "/tmp", "/tmp/run-viewer-", "/etc"],
    "git": ["/usr/bin/git", "/usr/bin/none"],
    "codeHost": ["/usr/bin/gh", "gh"],
}
PICTURE = b"\x89PNG\r\n\x1a\n" + b"\0" * 40
# An archive with the file `a.txt`, and an empty archive.
ARCHIVES = [
    b"PK\x03\x04\x14\0\0\0\0\0\0\0!\0\xac*\x93\xd8\x02\0\0\0\x02\0\0\0\x05\0\0\0a.txthi"
    b"PK\x01\x02\x14\x03\x14\0\0\0\0\0\0\0!\0\xac*\x93\xd8\x02\0\0\0\x02\0\0\0\x05\0\0\0\0\0\0\0\0\0\0\0\x80\x01"
    b"\0\0\0\0a.txtPK\x05\x06\0\0\0\0\x01\0\x01\0003\0\0\0%\0\0\0\0\0",
    b"PK\x05\x06" + b"\0" * 18,
]


known = known_of(KNOWN)


def of_form(name, value):
    """Replaces half of the files by valid ones."""
    if number_of(value) % 2 == 0:
        return value
    if name == "files":
        return [PICTURE]
    if name == "file":
        return ARCHIVES[number_of(value) // 2 % len(ARCHIVES)]
    return value


@schemathesis.hook
def map_query(context, query):
    return each(query, known)


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    return each(path_parameters, known)


@schemathesis.hook
def map_headers(context, headers):
    return each(headers, known)


@schemathesis.hook
def map_body(context, body):
    members = each(body, known)
    forms = ("POST /api/gateway/orchestrator/upload/{ticketId}", "POST /api/gateway/run-viewer-extract")
    # Other routes do not accept bytes.
    return each(members, of_form) if context.operation.label in forms else members


@schemathesis.check
def documented_server_errors(context, response, case):
    """Checks that a server error is documented for the route and has a specific code."""
    if response.status_code < 500:
        return
    body = response.json()
    if case.method.upper() != case.operation.method.upper():
        # The path does not support this method.
        assert body.get("code") == "operation_not_implemented", f"not the answer to {case.method}: {body}"
        return
    documented = case.operation.definition.raw.get("responses", {})
    assert str(response.status_code) in documented, f"{response.status_code} is not documented"
    assert body.get("code") not in (None, "internal_error"), f"no reason is given: {body}"
