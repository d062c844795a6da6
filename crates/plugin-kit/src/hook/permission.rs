//! Whether a tool may be used: credentials are refused, and so is delivering where the runtime does it; the
//! loop's own files are allowed; everything else is left to the assistant's own permissions.

use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use serde_json::{Value, json};

use super::input::HookInput;
use super::shell::ParsedCommandLine;
use super::{credentials, delivery};

/// Reason for refusing credentials.
const REFUSAL: &str = "Blocked: credential access denied by security policy";
/// Programs whose arguments are files and nothing else can happen.
const FILE_PROGRAMS: [&str; 16] = [
    "ls", "cat", "head", "tail", "wc", "stat", "test", "mkdir", "touch", "cp", "mv", "rm", "rmdir", "sort",
    "diff", "file",
];

/// The decision, or nothing. `runtime_delivers` says that the assistant must not push by itself.
pub fn decide(input: &HookInput, runtime_delivers: bool) -> Option<Value> {
    let home = std::env::home_dir().unwrap_or_default();
    let argument = |name: &str| input.tool_input.get(name).and_then(Value::as_str);
    let refused = match input.tool_name.as_str() {
        "Bash" => {
            argument("command").is_some_and(|command| credentials::in_command(command, &input.cwd, &home))
        }
        "Grep" | "Glob" => ["path", "pattern"].iter().filter_map(|name| argument(name)).any(|word| {
            let path = credentials::absolute(word, &input.cwd, &home);
            word.contains('/') && (credentials::in_path(&path) || credentials::is_key_dir(&path))
        }),
        _ => file(input)
            .is_some_and(|path| credentials::in_path(&credentials::absolute(path, &input.cwd, &home))),
    };
    if refused {
        return Some(decision("deny", REFUSAL));
    }
    let delivers = |command| delivery::in_command(command, &home);
    if runtime_delivers && input.tool_name == "Bash" && argument("command").is_some_and(delivers) {
        return Some(decision("deny", delivery::REFUSAL));
    }
    let own = match input.tool_name.as_str() {
        "Bash" => argument("command").is_some_and(|command| is_own_command(command, input, &home)),
        "Read" | "Write" | "Edit" | "NotebookEdit" => {
            file(input).is_some_and(|path| is_inside(&credentials::absolute(path, &input.cwd, &home), input))
        }
        _ => false,
    };
    own.then(|| decision("allow", "A file of the coding loop"))
}

fn file(input: &HookInput) -> Option<&str> {
    ["file_path", "notebook_path"].iter().find_map(|name| input.tool_input.get(name)?.as_str())
}

fn decision(kind: &str, reason: &str) -> Value {
    json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": kind,
        "permissionDecisionReason": reason,
    }})
}

/// One plain command on files of the loop, or a plan tool on them.
fn is_own_command(text: &str, input: &HookInput, home: &Path) -> bool {
    let line = ParsedCommandLine::read(text, &home.to_string_lossy());
    let [words] = line.commands.as_slice() else { return false };
    if !line.simple {
        return false;
    }
    let inside = |word: &String| is_inside(&credentials::absolute(word, &input.cwd, home), input);
    match words.as_slice() {
        [program, rest @ ..] if FILE_PROGRAMS.contains(&program.as_str()) => {
            let (flags, files): (Vec<_>, Vec<_>) = rest.iter().partition(|word| word.starts_with('-'));
            !files.is_empty()
                && files.into_iter().all(inside)
                && flags.iter().all(|flag| !flag.contains(['/', '=']))
        }
        [program, group, rest @ ..] if program == "loopgate" && group == "plan" => {
            rest.iter().filter(|word| word.contains('/')).all(inside)
        }
        _ => false,
    }
}

/// Whether a path, with its links followed, is in the work directory or the state directory.
fn is_inside(path: &Path, input: &HookInput) -> bool {
    let workdir = input.loop_context().map(|context| context.workdir);
    let roots = workdir.into_iter().chain([input.cwd.join(STATE_DIR)]);
    let real = real(path);
    roots.filter_map(|root| std::fs::canonicalize(root).ok()).any(|root| real.starts_with(root))
}

/// The path with its existing part resolved; the rest cannot be a link.
fn real(path: &Path) -> PathBuf {
    let mut existing = path;
    let mut rest = Vec::new();
    loop {
        if let Ok(real) = std::fs::canonicalize(existing) {
            return rest.iter().rev().fold(real, |path, name| path.join(name));
        }
        match (existing.parent(), existing.file_name()) {
            // A link whose target is missing would lead anywhere once it is there.
            _ if existing.is_symlink() => return PathBuf::new(),
            (Some(parent), Some(name)) => {
                rest.push(name);
                existing = parent;
            }
            _ => return PathBuf::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct PermissionFixture(tempfile::TempDir);

    impl PermissionFixture {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(dir.path().join(".loopgate/work")).unwrap();
            Self(dir)
        }

        fn decided(&self, tool: &str, arguments: Value) -> Option<String> {
            let cwd = std::fs::canonicalize(self.0.path()).unwrap();
            let input =
                HookInput { tool_name: tool.into(), tool_input: arguments, cwd, ..HookInput::default() };
            Some(
                decide(&input, true)?["hookSpecificOutput"]["permissionDecision"]
                    .as_str()
                    .unwrap()
                    .to_owned(),
            )
        }

        fn bash(&self, command: &str) -> Option<String> {
            self.decided("Bash", json!({"command": command}))
        }
    }

    // PL-24
    #[test]
    fn loops_files_are_allowed_and_keys_refused() {
        let fixture = PermissionFixture::new();
        assert_eq!(fixture.bash("cat ~/.ssh/id_rsa > .loopgate/x").as_deref(), Some("deny"));
        assert_eq!(fixture.bash("ls .loopgate/work").as_deref(), Some("allow"));
        assert_eq!(fixture.bash("cat ~/.ssh/config"), None);
        assert_eq!(fixture.bash("loopgate plan tick T-1.1 .loopgate/work").as_deref(), Some("allow"));
        let write = |path: &str| fixture.decided("Write", json!({"file_path": path}));
        assert_eq!(write(".loopgate/work/plan.md").as_deref(), Some("allow"));
        assert_eq!(write("src/main.rs"), None);
        assert_eq!(
            fixture.decided("Grep", json!({"path": "~/.ssh", "pattern": "KEY"})).as_deref(),
            Some("deny")
        );
    }

    #[test]
    fn delivering_is_refused_only_where_the_runtime_delivers() {
        let input = HookInput {
            tool_name: "Bash".into(),
            tool_input: json!({"command": "git push -u origin HEAD"}),
            ..HookInput::default()
        };
        let answer = decide(&input, true).unwrap();
        assert_eq!(answer["hookSpecificOutput"]["permissionDecisionReason"], delivery::REFUSAL);
        assert_eq!(decide(&input, false), None);
    }

    #[test]
    fn nothing_rides_along_with_an_allowed_path() {
        let fixture = PermissionFixture::new();
        for command in [
            "ls .loopgate/work; curl x",
            "ls .loopgate/work && rm -rf src",
            "cat .loopgate/work/$(id)",
            "cat .loopgate/../src/main.rs",
            "cp /etc/passwd .loopgate/work/x",
            "python3 .loopgate/work/x.py",
            "rm -rf x.loopgate/../src",
            "echo .loopgate/work",
            "loopgate plan extract-md /etc/x.json",
        ] {
            assert_eq!(fixture.bash(command), None, "{command}");
        }
        assert_eq!(fixture.decided("Write", json!({"file_path": "x.loopgate/../../etc/x"})), None);
    }

    #[cfg(unix)]
    #[test]
    fn link_out_of_the_work_directory_is_followed() {
        let fixture = PermissionFixture::new();
        let link = fixture.0.path().join(".loopgate/work/out");
        std::os::unix::fs::symlink("/etc", &link).unwrap();
        assert_eq!(fixture.bash("cat .loopgate/work/out/hosts"), None);
        std::os::unix::fs::symlink("/nonexistent/target", fixture.0.path().join(".loopgate/work/dangling"))
            .unwrap();
        assert_eq!(fixture.decided("Write", json!({"file_path": ".loopgate/work/dangling"})), None);
    }
}
