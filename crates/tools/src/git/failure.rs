//! Classification of a failed operation: a category for clients, and an excerpt of the output for the user.

use loopgate_api::redact;

use super::{Action, GitError};

/// Maximum length of the excerpt, in characters.
const MAX_EXCERPT: usize = 1200;
const TRUNCATED: &str = "...[truncated]";

/// Messages of `git commit` when there is nothing to commit.
const NOTHING_TO_COMMIT: [&str; 3] =
    ["nothing to commit", "nothing added to commit", "no changes added to commit"];
/// Texts in the output of a commit that indicate a hook.
const HOOK_SIGNS: [&str; 3] = ["pre-commit", "husky", "hook"];
/// The kind of check in a hook, by texts in its output. The first matching row applies.
const HOOK_KINDS: [(&[&str], &str); 4] = [
    (&["eslint", "lint"], "lint"),
    (&["typecheck", "tsc", "type error"], "typecheck"),
    (&["prettier", "format"], "format"),
    (&["vitest", "jest", "test failed"], "test"),
];
/// Texts in the output of a push that was denied.
const ACCESS_DENIED: [&str; 7] = [
    "authentication failed",
    "permission denied",
    "could not read username",
    "repository not found",
    "access denied",
    "403",
    "401",
];

/// Texts in the output of a remote that indicate a permanent failure.
const PERMANENT_FAILURE: [&str; 9] = [
    "[rejected]",
    "[remote rejected]",
    "does not appear to be a git repository",
    "authentication failed",
    "permission denied",
    "could not read username",
    "repository not found",
    "access denied",
    "error: 4",
];
/// Texts that indicate a temporary failure of the network or of the server.
const NETWORK_FAILURE: [&str; 23] = [
    "could not resolve host",
    "couldn't resolve host",
    "temporary failure in name resolution",
    "connection refused",
    "connection reset",
    "connection timed out",
    "connection closed",
    "operation timed out",
    "network is unreachable",
    "no route to host",
    "failed to connect",
    "couldn't connect",
    "could not connect",
    "recv failure",
    "empty reply from server",
    "ssl_error_syscall",
    "gnutls_handshake() failed",
    "early eof",
    "the remote end hung up unexpectedly",
    "rpc failed",
    "returned error: 5",
    // git-lfs
    "no such host",
    "i/o timeout",
];
/// Sub-commands that contact a remote.
const REMOTE_COMMANDS: [&str; 5] = ["push", "fetch", "remote", "ls-remote", LFS];
/// Sub-command of git-lfs, which has exit codes of its own.
const LFS: &str = "lfs";
/// Texts that indicate a temporary failure of the disk: no space, or a lock of another git process.
const DISK_FAILURE: [&str; 3] = ["no space left on device", "disk quota exceeded", ".lock': file exists"];
/// The exit code of `die()` in git, as opposed to one for a rejection by a hook or the remote.
const DIE_EXIT_CODE: i32 = 128;

impl GitError {
    /// Returns whether the same command may succeed later without intervention: the remote was unreachable or
    /// failing, the disk was full, or another git process held a lock. Rejections by a hook or the remote are
    /// permanent.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        let is_networked = |command: &str| REMOTE_COMMANDS.contains(&command);
        match self {
            // A fetch or push hangs because of the network, but a hook that hangs will hang again.
            Self::TimedOut { command, program, .. } => {
                is_networked(command) && program.as_deref().is_none_or(is_transport)
            }
            Self::Failed { command, code, stderr, .. } => {
                let stderr = stderr.to_lowercase();
                let has = |signs: &[&str]| signs.iter().any(|sign| stderr.contains(sign));
                if *code == DIE_EXIT_CODE && has(&DISK_FAILURE) {
                    return true;
                }
                let ran = command.split(' ').nth(1).unwrap_or_default();
                // A push whose HTTP connection breaks exits with 1, like a rejected one.
                let aborted = *code == DIE_EXIT_CODE || ran == LFS || stderr.contains("rpc failed");
                is_networked(ran) && aborted && has(&NETWORK_FAILURE) && !has(&PERMANENT_FAILURE)
            }
            _ => false,
        }
    }
}

/// Returns whether a program is one of git's, or connects it to a remote.
fn is_transport(program: &str) -> bool {
    program.starts_with("git") || program.starts_with("ssh")
}

/// The category of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureCategory {
    /// Git could not be started.
    Spawn,
    /// A hook rejected the commit; the kind of its check, `unknown` if it cannot be determined.
    Hook(&'static str),
    /// The remote denied the push.
    PushAuth,
    /// Any other failure; git's exit code, 1 when it has none.
    Command(i32),
}

/// A failed operation, in texts that are safe to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitFailure {
    pub category: FailureCategory,
    /// The error message, redacted.
    pub error: String,
    /// The start of the output, redacted and up to 1200 characters.
    pub excerpt: String,
}

impl GitFailure {
    /// Classifies the error of an operation.
    #[must_use]
    pub fn of(action: Action, error: &GitError) -> Self {
        let (category, text) = match error {
            GitError::Start { command, .. } => (FailureCategory::Spawn, command.clone()),
            GitError::Failed { command, code, stdout, stderr } => {
                let category = category(action, command, *code, stdout, stderr);
                let stderr = stderr.trim();
                let text = match category {
                    FailureCategory::Hook(_) => "Pre-commit hook failed",
                    FailureCategory::PushAuth => "Git push authentication failed",
                    _ if stderr.is_empty() => command,
                    _ => stderr,
                };
                (category, text.to_owned())
            }
            // Git itself exits with this code outside a repository.
            GitError::Repository(error) => (FailureCategory::Command(128), error.to_string()),
            other => (FailureCategory::Command(1), other.to_string()),
        };
        Self { category, error: clean(&text), excerpt: excerpt(error) }
    }
}

fn category(action: Action, command: &str, code: i32, stdout: &str, stderr: &str) -> FailureCategory {
    let ran = |name: &str| command.strip_prefix("git ").is_some_and(|rest| rest.starts_with(name));
    // A hook that rejects a commit makes git exit with 1; git's own errors exit with 128.
    if action == Action::Commit && ran("commit ") && code == 1 {
        let text = format!("{stderr}\n{stdout}").to_lowercase();
        let has = |signs: &[&str]| signs.iter().any(|sign| text.contains(sign));
        let kind = HOOK_KINDS.iter().find(|(signs, _)| has(signs)).map(|(_, kind)| *kind);
        if !has(&NOTHING_TO_COMMIT) && (has(&HOOK_SIGNS) || kind.is_some()) {
            return FailureCategory::Hook(kind.unwrap_or("unknown"));
        }
    }
    let stderr = stderr.to_lowercase();
    if action == Action::Push && ACCESS_DENIED.iter().any(|sign| stderr.contains(sign)) {
        return FailureCategory::PushAuth;
    }
    FailureCategory::Command(code)
}

fn excerpt(error: &GitError) -> String {
    let shown = error.to_string();
    let printed = match error {
        GitError::Failed { stdout, stderr, .. } => [stderr.trim(), stdout.trim()],
        GitError::TimedOut { printed, .. } => [printed.trim(), ""],
        _ => ["", ""],
    };
    let text = clean(printed.into_iter().find(|text| !text.is_empty()).unwrap_or(&shown));
    match text.char_indices().nth(MAX_EXCERPT) {
        Some((end, _)) => format!("{}{TRUNCATED}", &text[..end]),
        None => text,
    }
}

/// Removes credentials and escape sequences.
fn clean(text: &str) -> String {
    redact::credentials(&redact::strip_ansi(text)).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(command: &str, code: i32, stdout: &str, stderr: &str) -> GitError {
        let command = format!("git {command} failed");
        GitError::Failed { command, code, stdout: stdout.to_owned(), stderr: stderr.to_owned() }
    }

    #[test]
    fn hook_is_recognized_by_its_output_but_not_by_a_path() {
        let of = |code, stdout, stderr| {
            GitFailure::of(Action::Commit, &failed("commit -m x", code, stdout, stderr))
        };
        let hook = of(1, "", "pre-commit hook: eslint failed");
        assert_eq!(
            (hook.category, hook.error.as_str()),
            (FailureCategory::Hook("lint"), "Pre-commit hook failed")
        );
        assert_eq!(of(1, "tsc type error", "").category, FailureCategory::Hook("typecheck"));
        assert_eq!(of(1, "", "husky - vitest").category, FailureCategory::Hook("test"));
        assert_eq!(of(1, "", "husky says no").category, FailureCategory::Hook("unknown"));
        let nothing = of(1, "On branch feature/format-x\nnothing to commit, working tree clean\n", "");
        assert_eq!(nothing.category, FailureCategory::Command(1));
        assert_eq!(nothing.error, "git commit -m x failed");
        assert!(nothing.excerpt.starts_with("On branch feature/format-x"));
        let locked = of(128, "", "fatal: Unable to create '/src/lint/.git/index.lock': File exists.");
        assert_eq!(locked.category, FailureCategory::Command(128), "git itself refused");
        let staging = GitFailure::of(Action::Commit, &failed("add .", 1, "", "a hook"));
        assert_eq!(staging.category, FailureCategory::Command(1), "hooks run in the commit alone");
    }

    #[test]
    fn rejected_push_has_its_own_error() {
        for text in ["Permission denied (publickey).", "error: 403", "fatal: could not read Username for 'x'"]
        {
            let failure = GitFailure::of(Action::Push, &failed("push origin", 128, "", text));
            assert_eq!(failure.category, FailureCategory::PushAuth, "{text}");
            let pull = GitFailure::of(Action::Pull, &failed("pull origin", 128, "", text));
            assert_eq!((pull.category, pull.error.as_str()), (FailureCategory::Command(128), text));
        }
    }

    #[test]
    fn network_errors_are_transient_and_rejections_are_not() {
        let of = |command: &str, code, stderr: &str| failed(command, code, "", stderr).is_transient();
        let push = "push -u origin refs/heads/x:refs/heads/x";
        for (command, code, stderr) in [
            (
                push,
                128,
                "ssh: connect to host github.com port 22: Connection refused\nfatal: Could not read from remote repository.",
            ),
            (push, 128, "ssh: Could not resolve hostname github.com: Temporary failure in name resolution"),
            (push, 128, "fatal: unable to access 'https://h/x.git/': Could not resolve host: h"),
            (push, 128, "fatal: unable to access 'https://h/x.git/': The requested URL returned error: 503"),
            (
                push,
                1,
                "error: RPC failed; HTTP 502 curl 22\nfatal: the remote end hung up unexpectedly\nEverything up-to-date",
            ),
            ("lfs push origin x", 2, "batch request: Post \"https://h/\": dial tcp: lookup h: no such host"),
            ("fetch origin", 128, "fatal: unable to access 'https://h/': Failed to connect to h port 443"),
            ("commit -m x", 128, "fatal: Unable to create '/src/.git/index.lock': File exists."),
            ("add -A", 128, "error: unable to write file x: No space left on device"),
            ("commit -m x", 128, "fatal: unable to write new index file: Disk quota exceeded"),
        ] {
            assert!(of(command, code, stderr), "{command}: {stderr}");
        }
        for (command, code, stderr) in [
            (push, 1, " ! [rejected]        x -> x (non-fast-forward)"),
            (push, 1, " ! [remote rejected] x -> x (pre-receive hook declined)\nremote: connection refused"),
            (
                push,
                128,
                "git@github.com: Permission denied (publickey).\nfatal: the remote end hung up unexpectedly",
            ),
            (push, 128, "ERROR: Repository not found.\nfatal: Could not read from remote repository."),
            (push, 128, "fatal: unable to access 'https://h/x.git/': The requested URL returned error: 403"),
            (push, 1, "error: RPC failed; HTTP 413 curl 22 The requested URL returned error: 413"),
            (push, 1, "pre-push: connection refused"),
            ("lfs push origin x", 2, "batch response: Authentication required: authentication failed"),
            ("commit -m x", 1, "the tests failed: connection refused"),
            ("commit -m connection refused", 128, "fatal: bad object"),
        ] {
            assert!(!of(command, code, stderr), "{command}: {stderr}");
        }
        let late = |command: &str, program: Option<&str>| GitError::TimedOut {
            command: command.to_owned(),
            limits: crate::process::Limits::idle(std::time::Duration::from_secs(60)),
            printed: String::new(),
            program: program.map(str::to_owned),
        };
        assert!(late("push", None).is_transient() && late("push", Some("git-remote-http")).is_transient());
        for (command, program) in [("commit", None), ("push", Some("pre-push")), ("push", Some("sleep"))] {
            assert!(!late(command, program).is_transient(), "a hook that hangs will hang again");
        }
    }

    #[test]
    fn displayed_text_is_short_and_has_no_secrets() {
        let failure = GitFailure::of(Action::Status, &failed("status", 128, "", &"ü".repeat(5000)));
        assert_eq!(failure.excerpt, format!("{}{TRUNCATED}", "ü".repeat(MAX_EXCERPT)));
        let secret = "fatal: unable to access 'https://me:hunter2@host/x.git/'";
        let failure = GitFailure::of(Action::Pull, &failed("pull", 128, "", secret));
        assert!(!failure.error.contains("hunter2") && !failure.excerpt.contains("hunter2"), "{failure:?}");
    }
}
