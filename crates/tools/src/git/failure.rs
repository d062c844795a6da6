//! Why something that a person asked of git did not happen: the category for programs, and an
//! excerpt of what was printed for the person.

use loopgate_api::redact;

use super::{Action, GitError};

/// Characters of the excerpt.
const EXCERPT: usize = 1200;
const CUT: &str = "...[truncated]";

/// Git's own words for a commit that would be empty.
const NOTHING: [&str; 3] = ["nothing to commit", "nothing added to commit", "no changes added to commit"];
/// Signs of a hook in what a commit printed.
const HOOK: [&str; 3] = ["pre-commit", "husky", "hook"];
/// What a hook checked, by the words it printed; the first row counts.
const HOOK_TYPES: [(&[&str], &str); 4] = [
    (&["eslint", "lint"], "lint"),
    (&["typecheck", "tsc", "type error"], "typecheck"),
    (&["prettier", "format"], "format"),
    (&["vitest", "jest", "test failed"], "test"),
];
/// Signs of a push that was not let in.
const NOT_LET_IN: [&str; 7] = [
    "authentication failed",
    "permission denied",
    "could not read username",
    "repository not found",
    "access denied",
    "403",
    "401",
];

/// Signs of an answer of the remote that does not change by itself.
const REFUSED: [&str; 9] = [
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
/// Signs of a network or a server that is out of order for a while.
const UNREACHABLE: [&str; 21] = [
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
];
/// Sub-commands that speak to a remote.
const NETWORKED: [&str; 4] = ["push", "fetch", "remote", "ls-remote"];
/// Signs of a clone that cannot be written for a while: a full disk, or another git at work.
const OCCUPIED: [&str; 2] = ["no space left on device", ".lock': file exists"];
/// With what git ends when it gives up itself, rather than a hook or the remote.
const FATAL: i32 = 128;

impl GitError {
    /// Whether the same command may succeed later without anybody doing anything: the remote was not
    /// reached or was out of order, the disk was full, or another git held a lock. What a hook or the
    /// remote refused stays refused.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        let is_networked = |command: &str| NETWORKED.contains(&command);
        match self {
            Self::TimedOut { command, .. } => is_networked(command),
            Self::Failed { command, code, stderr, .. } => {
                let stderr = stderr.to_lowercase();
                let has = |signs: &[&str]| signs.iter().any(|sign| stderr.contains(sign));
                if *code == FATAL && has(&OCCUPIED) {
                    return true;
                }
                let ran = command.split(' ').nth(1).unwrap_or_default();
                // A push over HTTP that breaks off ends like one that was refused.
                let gave_up = *code == FATAL || stderr.contains("rpc failed");
                is_networked(ran) && gave_up && has(&UNREACHABLE) && !has(&REFUSED)
            }
            _ => false,
        }
    }
}

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureCategory {
    /// Git could not be started.
    Spawn,
    /// A hook refused the commit; what it checks, as far as its words tell.
    Hook(&'static str),
    /// The remote did not let the push in.
    PushAuth,
    /// Anything else; git's exit code, 1 when it has none.
    Command(i32),
}

/// A failed action, in words and values that are safe to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitFailure {
    /// The kind.
    pub category: FailureCategory,
    /// What went wrong.
    pub error: String,
    /// The beginning of what was printed.
    pub excerpt: String,
}

impl GitFailure {
    /// Tells what the failure of an action means.
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
            // As git itself ends where it finds none.
            GitError::Repository(error) => (FailureCategory::Command(128), error.to_string()),
            other => (FailureCategory::Command(1), other.to_string()),
        };
        Self { category, error: clean(&text), excerpt: excerpt(error) }
    }
}

fn category(action: Action, command: &str, code: i32, stdout: &str, stderr: &str) -> FailureCategory {
    let ran = |name: &str| command.strip_prefix("git ").is_some_and(|rest| rest.starts_with(name));
    // What git itself refuses to do ends with 128; a hook's refusal ends with 1.
    if action == Action::Commit && ran("commit ") && code == 1 {
        let text = format!("{stderr}\n{stdout}").to_lowercase();
        let has = |signs: &[&str]| signs.iter().any(|sign| text.contains(sign));
        let kind = HOOK_TYPES.iter().find(|(signs, _)| has(signs)).map(|(_, kind)| *kind);
        if !has(&NOTHING) && (has(&HOOK) || kind.is_some()) {
            return FailureCategory::Hook(kind.unwrap_or("unknown"));
        }
    }
    let stderr = stderr.to_lowercase();
    if action == Action::Push && NOT_LET_IN.iter().any(|sign| stderr.contains(sign)) {
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
    match text.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}{CUT}", &text[..end]),
        None => text,
    }
}

/// Without credentials and colours.
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
    fn hook_is_known_by_its_words_and_not_by_those_of_a_path() {
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
    fn transient_errors_differ_from_refusals() {
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
            ("fetch origin", 128, "fatal: unable to access 'https://h/': Failed to connect to h port 443"),
            ("commit -m x", 128, "fatal: Unable to create '/src/.git/index.lock': File exists."),
            ("add -A", 128, "error: unable to write file x: No space left on device"),
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
            ("commit -m x", 1, "the tests failed: connection refused"),
            ("commit -m connection refused", 128, "fatal: bad object"),
        ] {
            assert!(!of(command, code, stderr), "{command}: {stderr}");
        }
        let late = |command: &str| GitError::TimedOut {
            command: command.to_owned(),
            limit: std::time::Duration::from_secs(60),
            printed: String::new(),
        };
        assert!(
            late("push").is_transient() && !late("commit").is_transient(),
            "a hook that hangs hangs again"
        );
    }

    #[test]
    fn displayed_text_is_short_and_has_no_secrets() {
        let failure = GitFailure::of(Action::Status, &failed("status", 128, "", &"ü".repeat(5000)));
        assert_eq!(failure.excerpt, format!("{}{CUT}", "ü".repeat(EXCERPT)));
        let secret = "fatal: unable to access 'https://me:hunter2@host/x.git/'";
        let failure = GitFailure::of(Action::Pull, &failed("pull", 128, "", secret));
        assert!(!failure.error.contains("hunter2") && !failure.excerpt.contains("hunter2"), "{failure:?}");
    }
}
