//! Checks at the start of an assistant session that the user's settings leave a loop what it needs: its tools, and the
//! hooks of its plugin, which are its guards. A session that lacks them is stopped at once.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use loopgate_home::untrusted;
use loopgate_tools::environment::INTERACTIVE_MODES;
use serde_json::Value;

use super::stream::RunSummary;

/// Tools without which no loop can work.
const NEEDED_TOOLS: [&str; 5] = ["Agent", "Bash", "Edit", "Read", "Write"];
/// Settings that switch off the hooks of plugins, or the shell blocks of their commands.
const SWITCHES: [&str; 3] = ["allowManagedHooksOnly", "disableAllHooks", NO_SHELL_BLOCKS];
/// Setting that replaces the shell blocks of commands by a placeholder. The prompt of a loop comes from such a block.
const NO_SHELL_BLOCKS: &str = "disableSkillShellExecution";
/// Values of a variable that do not switch on a mode.
const OFF: [&str; 5] = ["", "0", "false", "no", "off"];
/// Largest settings file that is read, in bytes.
const MAX_SETTINGS: u64 = 1024 * 1024;
/// Directories of the settings that an administrator manages.
const MANAGED_DIRECTORIES: [&str; 2] = ["/etc/claude-code", "/Library/Application Support/ClaudeCode"];

/// Why a session cannot do the work of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFault {
    /// Subcode of the failure marker.
    pub subcode: &'static str,
    /// Message to the user.
    pub message: String,
}

/// Checks one session.
#[derive(Debug)]
pub struct SessionCheck {
    /// Settings files of the assistant, in the order of their precedence.
    settings: Vec<PathBuf>,
    /// Settings files of the administrator, which are the first of them and take precedence over those of the driver.
    managed: Vec<PathBuf>,
    hook_record: PathBuf,
    /// Number of refused tools at the last check after the first answer; afterwards nothing else changes.
    checked: Option<usize>,
}

/// Returns the file in which the hook of a session's start records that hooks run.
pub fn hook_record(workdir: &Path) -> PathBuf {
    workdir.join(STATE_DIR).join("hooks-ran")
}

impl SessionCheck {
    /// Prepares the check of a new session: forgets the hooks of an earlier one. `sources` are the setting sources of
    /// the assistant; `None` is its default.
    pub fn new(project_root: &Path, workdir: &Path, sources: Option<&str>) -> Self {
        let hook_record = hook_record(workdir);
        // Usually missing. A record that cannot be removed would only hide that hooks do not run.
        let _ = untrusted::remove(&hook_record);
        let managed = managed_files();
        let own = own_files(project_root, sources);
        let settings = managed.iter().cloned().chain(own).collect();
        Self { settings, managed, hook_record, checked: None }
    }

    /// Returns the fault of a session, as soon as its stream shows it.
    pub fn fault(&mut self, facts: &RunSummary) -> Option<SessionFault> {
        if self.checked == Some(facts.refused_tools.len()) {
            return None;
        }
        let fault = self.current_fault(facts);
        // Called for each piece of the output, so that files are read only when there is something new.
        self.checked = facts.answered.then_some(facts.refused_tools.len());
        fault
    }

    fn current_fault(&self, facts: &RunSummary) -> Option<SessionFault> {
        // Only the assistant itself prints its tools.
        let tools = facts.tools.as_ref()?;
        let missing: Vec<&str> = NEEDED_TOOLS.into_iter().filter(|needed| !has_tool(tools, needed)).collect();
        if !missing.is_empty() {
            // Some modes of the assistant offer few tools, without any rule about them.
            let is_by_mode =
                missing.iter().all(|tool| self.rules(tool).is_empty()) && !self.modes().is_empty();
            return Some(if is_by_mode { self.without_hooks() } else { self.denied(&missing) });
        }
        // Such a refusal may concern one command only. It is final if a rule covers the whole tool.
        let refused: Vec<&str> = facts
            .refused_tools
            .iter()
            .map(String::as_str)
            .filter(|tool| self.rules(tool).iter().any(|rule| rule.is_whole(tool)))
            .collect();
        if !refused.is_empty() {
            return Some(self.denied(&refused));
        }
        if let Some(file) = self.managed.iter().find(|file| read(file)[NO_SHELL_BLOCKS] == Value::Bool(true))
        {
            let message = format!(
                "The assistant does not run the shell blocks of commands, and the prompt of a loop comes from one. Found: \
                 `{NO_SHELL_BLOCKS}` in {}.",
                file.display()
            );
            return Some(SessionFault { subcode: "ASSISTANT_SHELL_BLOCKS_DISABLED", message });
        }
        // The hook of the session's start ends before the first request to the model.
        (facts.answered && !untrusted::is_file(&self.hook_record)).then(|| self.without_hooks())
    }

    /// Returns the fault of a session that has ended, which its last record may show.
    pub fn fault_at_end(&self, facts: &RunSummary) -> Option<SessionFault> {
        let answer = facts.unknown_command.as_ref()?;
        let switches = self.switches();
        let found =
            if switches.is_empty() { String::new() } else { format!(". Found: {}", switches.join(", ")) };
        let message = format!("The assistant did not load the plugin of the loop ({answer}){found}");
        Some(SessionFault { subcode: "ASSISTANT_UNKNOWN_SKILL", message })
    }

    /// Describes the refused tools of a run, with the rules that may be the reason. `None` without a refusal.
    pub fn refusals(&self, facts: &RunSummary) -> Option<String> {
        let refused: Vec<&str> = facts.refused_tools.iter().map(String::as_str).collect();
        (!refused.is_empty()).then(|| {
            format!(
                "The assistant's permissions refused uses of {}{}.",
                refused.join(", "),
                self.named_rules(&refused)
            )
        })
    }

    fn denied(&self, tools: &[&str]) -> SessionFault {
        let message = format!(
            "The permissions of the assistant's settings refuse tools that every loop needs: {}{}. Remove the rule, or \
             move it to a settings file that loops do not read.",
            tools.join(", "),
            self.named_rules(tools)
        );
        SessionFault { subcode: "ASSISTANT_TOOL_DENIED", message }
    }

    fn without_hooks(&self) -> SessionFault {
        let switches = self.switches();
        let found = if switches.is_empty() {
            "Check `disableAllHooks`, `allowManagedHooksOnly` and `env` in its settings, and that `loopgate` can be run".to_owned()
        } else {
            format!("Found: {}", switches.join(", "))
        };
        let message = format!(
            "The assistant does not run the hooks of the plugin `code`, which keep a loop from reading credentials and \
             from pushing. {found}."
        );
        SessionFault { subcode: "ASSISTANT_HOOKS_INACTIVE", message }
    }

    /// Lists the settings that switch off what a loop needs, each with its file.
    fn switches(&self) -> Vec<String> {
        let switches = self.settings.iter().flat_map(|file| {
            let settings = read(file);
            let is_set =
                move |name: &&str| settings.get(*name).is_some_and(|value| *value != Value::Bool(false));
            SWITCHES.into_iter().filter(is_set).map(|name| format!("`{name}` in {}", file.display()))
        });
        switches.chain(self.modes()).collect()
    }

    /// Lists the variables in the settings that switch on a mode without hooks, plugins or tools, each with its file.
    fn modes(&self) -> Vec<String> {
        let modes = self.settings.iter().flat_map(|file| {
            let settings = read(file);
            let is_on = move |name: &&str| match settings.get("env").and_then(|env| env.get(*name)) {
                None | Some(Value::Null) => false,
                Some(Value::String(text)) => !OFF.contains(&text.to_ascii_lowercase().as_str()),
                // The assistant converts other values into text.
                Some(value) => !OFF.contains(&value.to_string().as_str()),
            };
            INTERACTIVE_MODES
                .into_iter()
                .filter(is_on)
                .map(|name| format!("`env.{name}` in {}", file.display()))
        });
        modes.collect()
    }

    /// Returns the rules about these tools as a part of a sentence, or nothing.
    fn named_rules(&self, tools: &[&str]) -> String {
        let rules: BTreeSet<String> =
            tools.iter().flat_map(|tool| self.rules(tool)).map(|rule| rule.to_string()).collect();
        if rules.is_empty() {
            return String::new();
        }
        format!(" ({})", rules.into_iter().collect::<Vec<_>>().join(", "))
    }

    fn rules(&self, tool: &str) -> Vec<PermissionRule> {
        let mut rules = Vec::new();
        for file in &self.settings {
            let settings = read(file);
            for list in ["deny", "ask"] {
                let entries = settings.pointer(&format!("/permissions/{list}")).and_then(Value::as_array);
                let texts = entries.into_iter().flatten().filter_map(Value::as_str);
                let all =
                    texts.map(|text| PermissionRule { list, text: text.to_owned(), file: file.clone() });
                rules.extend(all.filter(|rule| rule.is_about(tool)));
            }
        }
        rules
    }
}

/// A rule that refuses a tool without a user who can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PermissionRule {
    /// `deny` or `ask`.
    list: &'static str,
    text: String,
    file: PathBuf,
}

impl PermissionRule {
    fn is_about(&self, tool: &str) -> bool {
        let name = self.text.split('(').next().unwrap_or_default();
        // Rules for `Edit` apply to all tools that change files.
        name == "*" || same_tool(name, tool) || (name == "Edit" && tool == "Write")
    }

    /// Returns whether the rule covers all uses of a tool.
    fn is_whole(&self, tool: &str) -> bool {
        let (name, uses) = self.text.split_once('(').unwrap_or((&self.text, "*)"));
        self.is_about(tool)
            && (name == "*" || same_tool(name, tool))
            && uses.chars().all(|c| "*:)".contains(c))
    }
}

impl fmt::Display for PermissionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`permissions.{}` contains `{}` in {}", self.list, self.text, self.file.display())
    }
}

/// Returns whether two names denote the same tool: `Task` is the earlier name of `Agent`, which init records use.
fn same_tool(one: &str, other: &str) -> bool {
    let current = |name: &str| if name == "Task" { "Agent".to_owned() } else { name.to_owned() };
    current(one) == current(other)
}

fn has_tool(tools: &[String], needed: &str) -> bool {
    tools.iter().any(|tool| same_tool(tool, needed))
}

/// Beginnings of the refusal of a call that needs a user's consent, and of a call that a rule denies.
const REFUSALS: [&str; 2] = ["Claude requested permissions to use ", "Permission to use "];

/// Returns the tool that the result of a call reports as refused by the permissions.
pub fn refused_tool(result: &str) -> Option<&str> {
    // Only at the beginning: the output of a command may quote such a text.
    REFUSALS.iter().find_map(|refusal| tool_name(result.strip_prefix(refusal)?))
}

/// Returns the tool whose refusal a message of the assistant program mentions.
pub fn mentioned_refusal(message: &str) -> Option<&str> {
    REFUSALS.iter().find_map(|refusal| tool_name(message.split_once(refusal)?.1))
}

fn tool_name(rest: &str) -> Option<&str> {
    let tool = rest.split([' ', ',']).next()?;
    (!tool.is_empty() && tool.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')).then_some(tool)
}

/// Returns the settings files of the administrator.
fn managed_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for directory in MANAGED_DIRECTORIES.map(Path::new) {
        files.push(directory.join("managed-settings.json"));
        let parts = std::fs::read_dir(directory.join("managed-settings.d")).into_iter().flatten().flatten();
        files.extend(parts.map(|part| part.path()));
    }
    files
}

/// Returns the settings files of the user and of the project, in the order of their precedence.
fn own_files(project_root: &Path, sources: Option<&str>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let has_source =
        |name: &str| sources.is_none_or(|sources| sources.split(',').any(|source| source.trim() == name));
    let project = project_root.join(".claude");
    if has_source("local") {
        files.push(project.join("settings.local.json"));
    }
    if has_source("project") {
        files.push(project.join("settings.json"));
    }
    if has_source("user") {
        let configured =
            std::env::var_os("CLAUDE_CONFIG_DIR").filter(|path| !path.is_empty()).map(PathBuf::from);
        let own = configured.or_else(|| Some(std::env::home_dir()?.join(".claude")));
        files.extend(own.map(|own| own.join("settings.json")));
    }
    files
}

/// Reads a settings file; an unreadable one has no settings for the assistant either.
fn read(file: &Path) -> Value {
    let text = untrusted::read(file, MAX_SETTINGS).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Fixture {
        root: tempfile::TempDir,
        check: SessionCheck,
    }

    impl Fixture {
        fn new(settings: &Value) -> Self {
            let root = tempfile::tempdir().unwrap();
            let file = root.path().join("settings.json");
            std::fs::write(&file, settings.to_string()).unwrap();
            let hook_record = hook_record(root.path());
            untrusted::write(&hook_record, b"s").unwrap();
            let check =
                SessionCheck { settings: vec![file], managed: Vec::new(), hook_record, checked: None };
            Self { root, check }
        }

        fn message(&self, facts: &RunSummary) -> String {
            self.check
                .current_fault(facts)
                .map(|fault| format!("{}: {}", fault.subcode, fault.message))
                .unwrap_or_default()
        }
    }

    fn facts(tools: &[&str], refused: &[&str]) -> RunSummary {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        RunSummary {
            tools: Some(owned(tools)),
            refused_tools: owned(refused).into_iter().collect(),
            answered: true,
            ..RunSummary::default()
        }
    }

    const ALL: [&str; 5] = ["Task", "Bash", "Edit", "Read", "Write"];

    #[test]
    fn missing_tool_is_reported_with_its_rule() {
        let fixture = Fixture::new(&json!({"permissions": {"deny": ["Bash", "Read(./secrets/**)"]}}));
        let message = fixture.message(&facts(&["Task", "Edit", "Read", "Write"], &[]));
        let file = fixture.root.path().join("settings.json");
        let rule = format!("Bash (`permissions.deny` contains `Bash` in {})", file.display());
        assert!(message.starts_with("ASSISTANT_TOOL_DENIED") && message.contains(&rule), "{message}");
        assert_eq!(fixture.message(&facts(&ALL, &[])), "");
        // Managed settings may be unreadable for the user.
        let fixture = Fixture::new(&json!({}));
        let message = fixture.message(&facts(&["Bash", "Edit", "Read", "Write"], &[]));
        assert!(message.contains("every loop needs: Agent. Remove"), "{message}");
    }

    #[test]
    fn refusal_is_final_if_a_rule_covers_the_whole_tool() {
        for rule in ["Bash", "Bash(*)", "*"] {
            let fixture = Fixture::new(&json!({"permissions": {"ask": [rule]}}));
            let message = fixture.message(&facts(&ALL, &["Bash"]));
            assert!(message.contains(&format!("`permissions.ask` contains `{rule}`")), "{message}");
        }
        let fixture = Fixture::new(&json!({"permissions": {"deny": ["Bash(npm *)"]}}));
        let facts = facts(&ALL, &["Bash"]);
        assert_eq!(fixture.message(&facts), "");
        let refusals = fixture.check.refusals(&facts).unwrap();
        assert!(refusals.contains("uses of Bash (`permissions.deny` contains `Bash(npm *)`"), "{refusals}");
    }

    #[test]
    fn session_without_hooks_is_reported_with_the_switch() {
        let fixture = Fixture::new(&json!({"allowManagedHooksOnly": true, "disableAllHooks": false}));
        assert_eq!(fixture.message(&facts(&ALL, &[])), "");
        std::fs::remove_file(&fixture.check.hook_record).unwrap();
        let message = fixture.message(&facts(&ALL, &[]));
        assert!(message.starts_with("ASSISTANT_HOOKS_INACTIVE"), "{message}");
        assert!(message.contains("Found: `allowManagedHooksOnly` in"), "{message}");
        assert!(!message.contains("`disableAllHooks`"), "{message}");
        let not_started = RunSummary { answered: false, ..facts(&ALL, &[]) };
        assert_eq!(fixture.message(&not_started), "", "hooks may still be running");
    }

    #[test]
    fn mode_without_hooks_or_tools_is_named_with_its_file() {
        let fixture =
            Fixture::new(&json!({"env": {"CLAUDE_CODE_SIMPLE": "1", "CLAUDE_CODE_SAFE_MODE": "0"}}));
        let file = fixture.root.path().join("settings.json").display().to_string();
        let message = fixture.message(&facts(&["Bash", "Edit", "Read"], &[]));
        let found = format!("Found: `env.CLAUDE_CODE_SIMPLE` in {file}.");
        assert!(message.starts_with("ASSISTANT_HOOKS_INACTIVE") && message.ends_with(&found), "{message}");
        std::fs::remove_file(&fixture.check.hook_record).unwrap();
        assert!(fixture.message(&facts(&ALL, &[])).ends_with(&found));

        let fixture = Fixture::new(&json!({"env": {"CLAUDE_CODE_SAFE_MODE": true}}));
        let unknown = RunSummary { unknown_command: Some("Unknown command".to_owned()), ..facts(&ALL, &[]) };
        let fault = fixture.check.fault_at_end(&unknown).unwrap();
        assert_eq!(fault.subcode, "ASSISTANT_UNKNOWN_SKILL");
        assert!(fault.message.contains("(Unknown command). Found: `env.CLAUDE_CODE_SAFE_MODE` in"));
        // A rule explains a missing tool better.
        let fixture =
            Fixture::new(&json!({"env": {"CLAUDE_CODE_SIMPLE": 1}, "permissions": {"deny": ["Write"]}}));
        let message = fixture.message(&facts(&["Task", "Bash", "Edit", "Read"], &[]));
        assert!(message.starts_with("ASSISTANT_TOOL_DENIED"), "{message}");
    }

    #[test]
    fn shell_blocks_that_the_administrator_disables_are_reported() {
        let mut fixture = Fixture::new(&json!({"disableSkillShellExecution": true}));
        assert_eq!(fixture.message(&facts(&ALL, &[])), "", "the settings of the driver take precedence");
        fixture.check.managed = fixture.check.settings.clone();
        let message = fixture.message(&facts(&ALL, &[]));
        assert!(message.starts_with("ASSISTANT_SHELL_BLOCKS_DISABLED"), "{message}");
        assert!(message.contains("`disableSkillShellExecution` in"), "{message}");
    }

    #[test]
    fn refused_tool_is_named_by_the_result_of_its_call() {
        for (result, tool) in [
            ("Claude requested permissions to use Bash, but you haven't granted it yet.", Some("Bash")),
            ("Permission to use Bash with command echo x has been denied.", Some("Bash")),
            ("Permission to use mcp__a__b has been denied.", Some("mcp__a__b")),
            ("Claude requested permissions to write to /x, but you haven't granted it yet.", None),
            ("no push", None),
        ] {
            assert_eq!(refused_tool(result), tool, "{result}");
        }
        let message = "Error: Shell command permission check failed for pattern \"!`x`\": Claude requested permissions \
                       to use Bash, but you haven't granted it yet.";
        assert_eq!((refused_tool(message), mentioned_refusal(message)), (None, Some("Bash")));
    }

    #[test]
    fn settings_of_the_project_count_only_as_a_source() {
        let root = Path::new("/project");
        let all = own_files(root, None);
        assert!(all.contains(&root.join(".claude/settings.local.json")));
        let own = own_files(root, Some("user"));
        assert!(!own.iter().any(|file| file.starts_with(root)) && own.len() + 2 == all.len());
    }
}
