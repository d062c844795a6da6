//! Decides about the use of a tool: credentials are denied, delivery is denied if the runtime delivers. In a loop,
//! everything that takes work out of the working tree or forges its records is denied, and the loop's own files are
//! allowed. Everything else is left to the assistant's permissions.

use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use serde_json::{Value, json};

use super::git_call::{GitCall, git_calls};
use super::input::HookInput;
use super::shell::ParsedCommandLine;
use super::{credentials, delivery, foreign_agents, project_scripts, undo};
use crate::plan::is_record;
use crate::variables as var;

/// Reason of the denial of credentials.
const REFUSAL: &str = "Blocked: credential access denied by security policy";
/// Reason of the denial of a separate worktree.
const OTHER_WORKTREE: &str = "Blocked: the loop already has a worktree of its own. Work in the current directory, \
    without isolation.";
/// Reason of the denial of a statement about a task.
const OWN_STATEMENT: &str = "Blocked: only the orchestrator reports tasks, with `loopgate plan report <task>`, after a \
    checking agent has answered. Answer in the given form instead.";
/// Reason of the denial of access to the records that decide about the completion of tasks.
const RECORDS: &str = "Blocked: Loopgate writes these records; `loopgate plan report <task>` reads them.";
/// Reason of the denial of the plugin's agents while the repository may replace them.
const FOREIGN_AGENT: &str = "Blocked: a file in .claude/agents of the repository has a name that an agent of the plugin may \
    have, and would replace it. AWAITING_USER: the user renames the agent (`name:`, letters and hyphens only).";
/// Maximum number of command lines and scripts that one command line may lead to; bounds the work.
const MAX_TEXTS: usize = 64;
/// Programs that remove or replace directories.
const MOVING: [&str; 4] = ["mv", "rm", "rmdir", "unlink"];
/// Prefix of the names of the plugin's agents.
const PLUGIN_PREFIX: &str = "code:";
/// Plan commands that run commands of the project, which the user has to allow. Their own guards refuse what a loop must
/// not run.
const RUNNING: [&str; 4] = ["run", "prove", "baseline", "test"];
/// Programs that do nothing but read or write the files in their arguments.
const FILE_PROGRAMS: [&str; 16] = [
    "ls", "cat", "head", "tail", "wc", "stat", "test", "mkdir", "touch", "cp", "mv", "rm", "rmdir", "sort",
    "diff", "file",
];

/// Returns the decision, if any. `runtime_delivers` denies delivery by the assistant.
pub fn decide(input: &HookInput, runtime_delivers: bool) -> Option<Value> {
    let home = std::env::home_dir().unwrap_or_default();
    let argument = |name: &str| input.tool_input.get(name).and_then(Value::as_str);
    // Denials are decided first, so that no allowance can override them.
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
    let in_loop = runtime_delivers || input.loop_context().is_some();
    if in_loop && let Some(reason) = loop_refusal(input, &home, runtime_delivers) {
        return Some(decision("deny", reason));
    }
    let is_loop_file = match input.tool_name.as_str() {
        "Bash" => argument("command").is_some_and(|command| is_own_command(command, input, &home)),
        "Read" | "Write" | "Edit" | "NotebookEdit" => {
            file(input).is_some_and(|path| is_inside(&credentials::absolute(path, &input.cwd, &home), input))
        }
        _ => false,
    };
    is_loop_file.then(|| decision("allow", "A file of the coding loop"))
}

/// Returns why a loop does not allow the use of a tool.
fn loop_refusal(input: &HookInput, home: &Path, runtime_delivers: bool) -> Option<&'static str> {
    match input.tool_name.as_str() {
        "EnterWorktree" => Some(OTHER_WORKTREE),
        "Agent" | "Task" => {
            let isolation = input.tool_input.get("isolation");
            if isolation.is_some_and(|isolation| !isolation.is_null()) {
                return Some(OTHER_WORKTREE);
            }
            let agent = input.tool_input.get("subagent_type").and_then(Value::as_str);
            let is_of_plugin = agent.is_some_and(|agent| agent.starts_with(PLUGIN_PREFIX));
            (is_of_plugin && foreign_agents::replacing(input.project()).is_some()).then_some(FOREIGN_AGENT)
        }
        "Write" | "Edit" | "NotebookEdit" => {
            let path = credentials::absolute(file(input)?, &input.cwd, home);
            is_record(&path).then_some(RECORDS)
        }
        "Bash" => command_refusal(input.tool_input.get("command")?.as_str()?, input, home, runtime_delivers),
        _ => None,
    }
}

fn command_refusal(
    command: &str,
    input: &HookInput,
    home: &Path,
    runtime_delivers: bool,
) -> Option<&'static str> {
    let refused = |line: &ParsedCommandLine| {
        let mut statements = plan_commands(line);
        // In a loop no agent may tick tasks, and only the orchestrator may report them.
        if statements.any(|name| name == "tick" || (name == "report" && !input.agent_id.is_empty())) {
            return Some(OWN_STATEMENT);
        }
        // Only the assistant calls hooks; a command could report an answer that no agent gave.
        if line
            .commands
            .iter()
            .any(|words| words.windows(2).any(|pair| is_program(&pair[0]) && pair[1] == "hook"))
        {
            return Some(OWN_STATEMENT);
        }
        let moves =
            line.commands.iter().filter(|words| words.iter().any(|word| MOVING.contains(&word.as_str())));
        if moves.flatten().any(|word| is_record_directory(word, input, home)) {
            return Some(RECORDS);
        }
        // A command may have changed the directory before, so the names decide and not the whole path.
        line.commands.iter().flatten().any(|word| is_record(Path::new(word))).then_some(RECORDS)
    };
    judge(command, &input.cwd, home, runtime_delivers, refused)
}

/// Returns whether a word calls this program, also with a path or from the variable with its path.
fn is_program(word: &str) -> bool {
    Path::new(word).file_name().is_some_and(|name| name == "loopgate") || word.contains(var::PROGRAM)
}

/// Returns whether a word is a directory that contains the records of the loop.
fn is_record_directory(word: &str, input: &HookInput, home: &Path) -> bool {
    let path = real(&credentials::absolute(word, &input.cwd, home));
    let records = input.loop_context().map(|context| real(&context.state_dir()));
    word.trim_end_matches('/').ends_with(STATE_DIR)
        || records.is_some_and(|records| records.starts_with(&path))
}

/// Returns why a loop does not allow a command that is run by the plan commands.
pub fn refusal_of_command(command: &str, dir: &Path) -> Option<&'static str> {
    let home = std::env::home_dir().unwrap_or_default();
    if credentials::in_command(command, dir, &home) {
        return Some(REFUSAL);
    }
    judge(command, dir, &home, delivery::is_by_runtime(), |_| None)
}

/// Judges a command line, and the scripts that it runs directly or through other scripts.
fn judge(
    command: &str,
    dir: &Path,
    home: &Path,
    runtime_delivers: bool,
    refused: impl Fn(&ParsedCommandLine) -> Option<&'static str>,
) -> Option<&'static str> {
    let home = home.to_string_lossy();
    let peers = var::text(var::ADD_DIRS).unwrap_or_default();
    let peers: Vec<&Path> = peers.split('|').filter(|peer| !peer.is_empty()).map(Path::new).collect();
    let mut texts = vec![command.to_owned()];
    let mut at = 0;
    while let Some(text) = texts.get(at) {
        let line = ParsedCommandLine::read(text, &home);
        let mut calls = git_calls(&line, dir, &home);
        // The assistant can write its command out, but not the scripts of the project.
        if at > 0 {
            calls.retain(GitCall::is_certain);
        }
        if runtime_delivers && delivery::delivers(&line, &calls) {
            return Some(delivery::REFUSAL);
        }
        if calls.iter().any(undo::takes_back)
            || line
                .commands
                .iter()
                .any(|words| undo::takes_back_without_git(words, dir, peers.iter().copied()))
        {
            return Some(undo::REFUSAL);
        }
        if calls.iter().any(GitCall::is_unknown) {
            return Some(undo::UNREADABLE);
        }
        if let Some(reason) = refused(&line) {
            return Some(reason);
        }
        let run = delivery::scripts(&line, dir).into_iter().chain(project_scripts::texts(&line, dir));
        for text in run {
            if texts.len() < MAX_TEXTS && !texts.contains(&text) {
                texts.push(text);
            }
        }
        at += 1;
    }
    None
}

/// Iterates over the names of the plan commands in a command line.
fn plan_commands(line: &ParsedCommandLine) -> impl Iterator<Item = &str> {
    let pairs = line.commands.iter().flat_map(|words| words.windows(2));
    pairs.filter(|pair| pair[0] == "plan").map(|pair| pair[1].as_str())
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

/// Returns whether a command is a single one on files of the loop, or a plan command on them.
fn is_own_command(text: &str, input: &HookInput, home: &Path) -> bool {
    let line = ParsedCommandLine::read(text, &home.to_string_lossy());
    let [words] = line.commands.as_slice() else { return false };
    // An operator, a variable or a glob could have effects beyond the visible paths.
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
        // Words without a slash are options, task ids and phases; only paths can leave the loop's
        // directories.
        [program, group, rest @ ..] if program == "loopgate" && group == "plan" => {
            !rest.first().is_some_and(|name| RUNNING.contains(&name.as_str()))
                && rest.iter().filter(|word| word.contains('/')).all(inside)
        }
        _ => false,
    }
}

/// Returns whether a path, with symbolic links resolved, is in the work directory or the state directory.
fn is_inside(path: &Path, input: &HookInput) -> bool {
    let workdir = input.loop_context().map(|context| context.workdir);
    let roots = workdir.into_iter().chain([input.state_dir()]);
    let real = real(path);
    roots.filter_map(|root| std::fs::canonicalize(root).ok()).any(|root| real.starts_with(root))
}

/// Resolves the existing part of a path; the remainder contains no links.
fn real(path: &Path) -> PathBuf {
    let mut existing = path;
    let mut rest = Vec::new();
    loop {
        if let Ok(real) = std::fs::canonicalize(existing) {
            return rest.iter().rev().fold(real, |path, name| path.join(name));
        }
        match (existing.parent(), existing.file_name()) {
            // A dangling link could later point anywhere, so it is inside no directory.
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

        fn decision_of(&self, tool: &str, arguments: Value) -> Option<String> {
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
            self.decision_of("Bash", json!({"command": command}))
        }
    }

    // PL-24
    #[test]
    fn loop_files_are_allowed_and_credentials_denied() {
        let fixture = PermissionFixture::new();
        assert_eq!(fixture.bash("cat ~/.ssh/id_rsa > .loopgate/x").as_deref(), Some("deny"));
        assert_eq!(fixture.bash("ls .loopgate/work").as_deref(), Some("allow"));
        assert_eq!(fixture.bash("cat ~/.ssh/config"), None);
        assert_eq!(fixture.bash("loopgate plan report T-1.1 .loopgate/work").as_deref(), Some("allow"));
        let write = |path: &str| fixture.decision_of("Write", json!({"file_path": path}));
        assert_eq!(write(".loopgate/work/plan.md").as_deref(), Some("allow"));
        assert_eq!(write("src/main.rs"), None);
        assert_eq!(
            fixture.decision_of("Grep", json!({"path": "~/.ssh", "pattern": "KEY"})).as_deref(),
            Some("deny")
        );
    }

    #[test]
    fn delivery_is_denied_only_when_the_runtime_delivers() {
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
    fn nothing_but_an_answer_completes_a_task() {
        let fixture = PermissionFixture::new();
        for command in [
            "loopgate plan tick T-1.1 .loopgate/work",
            "cd .loopgate/work/.loopgate && echo x > agent-answers/000001.json",
            "rm -r .loopgate/work/.loopgate/agent-answers",
            "cp /tmp/x agreed-tasks.json",
            "sed -i s/a/b/ .loopgate/work/.loopgate/task-evidence.json",
            "echo '{}' | loopgate hook subagent-stop",
            "echo '{}' | \"$LOOPGATE_BIN\" hook subagent-stop",
            "rm -rf .loopgate/work/.loopgate",
            "mv .loopgate /tmp/x",
        ] {
            assert_eq!(fixture.bash(command).as_deref(), Some("deny"), "{command}");
        }
        let write = json!({"file_path": ".loopgate/work/.loopgate/task-trees.json"});
        assert_eq!(fixture.decision_of("Write", write).as_deref(), Some("deny"));
    }

    #[test]
    fn plan_command_that_runs_a_command_is_left_to_the_permissions() {
        let fixture = PermissionFixture::new();
        for command in [
            "run T-1.1 --workdir .loopgate/work -- curl",
            "prove T-1.1 .loopgate/work",
            "test .loopgate/work",
        ] {
            assert_eq!(fixture.bash(&format!("loopgate plan {command}")), None, "{command}");
        }
        assert_eq!(refusal_of_command("npm test", Path::new("/")), None);
        assert_eq!(refusal_of_command("npm test; git stash", Path::new("/")), Some(undo::REFUSAL));
        assert_eq!(refusal_of_command("cat ~/.ssh/id_rsa", Path::new("/")), Some(REFUSAL));
    }

    #[test]
    fn scripts_of_the_project_are_judged_like_the_command_line() {
        let fixture = PermissionFixture::new();
        let write = |name: &str, text: &str| std::fs::write(fixture.0.path().join(name), text).unwrap();
        write(
            "package.json",
            r#"{"scripts": {"test": "vitest", "undo": "npm run back", "back": "./back.sh"}}"#,
        );
        write("back.sh", "#!/bin/sh\ngit stash\n");
        write("build.sh", "#!/bin/sh\n$MAKE clean\ngit \"$@\"\n");
        write("Makefile", "test:\n\tgo test ./...\nundo:\n\tgit reset --hard\n");
        for command in ["npm run undo", "npx -y cross-env A=1 npm run back", "make undo", "sh back.sh"] {
            assert_eq!(fixture.bash(command).as_deref(), Some("deny"), "{command}");
        }
        for command in
            ["npm test", "npm run absent", "make test", "make absent", "npm install", "sh build.sh"]
        {
            assert_eq!(fixture.bash(command), None, "{command}");
        }
    }

    #[test]
    fn unreadable_subcommand_is_denied_with_a_reason() {
        let dir = Path::new("/");
        assert_eq!(refusal_of_command("git \"$x\"", dir), Some(undo::UNREADABLE));
        assert_eq!(refusal_of_command("git status $x", dir), None);
    }

    #[test]
    fn command_with_effects_beyond_loop_files_is_not_allowed() {
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
        assert_eq!(fixture.decision_of("Write", json!({"file_path": "x.loopgate/../../etc/x"})), None);
    }

    #[cfg(unix)]
    #[test]
    fn symbolic_links_are_resolved_before_the_check() {
        let fixture = PermissionFixture::new();
        let link = fixture.0.path().join(".loopgate/work/out");
        std::os::unix::fs::symlink("/etc", &link).unwrap();
        assert_eq!(fixture.bash("cat .loopgate/work/out/hosts"), None);
        std::os::unix::fs::symlink("/nonexistent/target", fixture.0.path().join(".loopgate/work/dangling"))
            .unwrap();
        assert_eq!(fixture.decision_of("Write", json!({"file_path": ".loopgate/work/dangling"})), None);
    }
}
