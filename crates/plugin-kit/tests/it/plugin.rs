//! Checks the plugin's texts against the programs, agents and tools that they mention.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use loopgate_testkit::home::UserHome;
use loopgate_testkit::model::{Conversation, ModelServer, Script};
use regex::Regex;
use serde_json::Value;

use crate::support::{DONE, Ended, MORE, Project, example};

fn plugin() -> PathBuf {
    crate::support::plugin("code")
}

/// Reads all texts of the plugin with their paths.
fn texts(dir: &Path) -> Vec<(PathBuf, String)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(texts(&path));
        } else {
            let text = std::fs::read_to_string(&path).unwrap();
            all.push((path, text));
        }
    }
    all
}

/// Returns the texts of the plugins whose prompts call the program.
fn texts_of_all() -> Vec<(PathBuf, String)> {
    let others = ["bootstrap", "code-review", "judges"].map(crate::support::plugin);
    [plugin()].into_iter().chain(others).flat_map(|dir| texts(&dir)).collect()
}

fn matches(pattern: &str, text: &str) -> BTreeSet<String> {
    Regex::new(pattern).unwrap().captures_iter(text).map(|matches| matches[1].to_owned()).collect()
}

#[test]
fn mentioned_agents_and_skills_exist() {
    for (path, text) in texts(&plugin()) {
        for name in matches(r"`code:([a-z-]+)`", &text) {
            let agent = plugin().join(format!("agents/{name}.md"));
            let skill = plugin().join(format!("skills/{name}/SKILL.md"));
            assert!(agent.is_file() || skill.is_file(), "{} names code:{name}", path.display());
        }
    }
}

#[test]
fn marketplace_offers_each_plugin_with_readme_licence_and_icon() {
    let root = plugin().parent().unwrap().parent().unwrap().to_owned();
    let read =
        |path: &Path| -> Value { serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap() };
    let offer = read(&root.join(".claude-plugin/marketplace.json"));
    let offered: BTreeSet<&str> = offer["plugins"]
        .as_array()
        .unwrap()
        .iter()
        .map(|plugin| plugin["source"].as_str().unwrap())
        .collect();
    let directories = std::fs::read_dir(root.join("plugins")).unwrap().map(|entry| entry.unwrap().path());
    let shipped: Vec<PathBuf> = directories.filter(|path| path.is_dir()).collect();
    assert_eq!(shipped.len(), offered.len());
    for dir in shipped {
        let name = dir.file_name().unwrap().to_str().unwrap();
        assert!(offered.contains(format!("./plugins/{name}").as_str()), "{name}");
        let manifest = read(&dir.join(".claude-plugin/plugin.json"));
        assert_eq!((manifest["name"].as_str(), manifest["license"].as_str()), (Some(name), Some("MIT")));
        assert!(dir.join("icon.svg").is_file() && dir.join("LICENSE").is_file(), "{name}");
        let readme = std::fs::read_to_string(dir.join("README.md")).unwrap();
        assert!(readme.contains("## Install") && readme.contains("## Example"), "{name}");
    }
}

#[test]
fn front_matter_contains_the_file_name() {
    for (path, text) in texts(&plugin().join("agents")) {
        let name = matches(r"(?m)^name: (.+)$", &text);
        assert_eq!(
            name.first().map(String::as_str),
            path.file_stem().unwrap().to_str(),
            "{}",
            path.display()
        );
        assert!(text.contains("\ndescription: ") && text.contains("\ntools: ") && text.contains("\nmodel: "));
    }
}

// PL-40
#[test]
fn visual_check_resumes_the_same_agent() {
    let prompt = std::fs::read_to_string(plugin().join("prompts/prompt.md")).unwrap();
    for status in ["INCOMPLETE_DOCS", "BLOCKED"] {
        let row = prompt.lines().find(|line| line.starts_with(&format!("| `{status}` |"))).unwrap();
        assert!(row.contains("by SendMessage to its id, and wait for its notification"), "{row}");
    }
    assert!(prompt.contains("wait for the notification of that agent"));
}

#[test]
fn every_status_of_an_agent_has_a_reader() {
    let agents = texts(&plugin().join("agents"));
    let readers: String = ["prompts", "commands"]
        .iter()
        .flat_map(|directory| texts(&plugin().join(directory)))
        .map(|(_, text)| text)
        .collect();
    let promise = Regex::new("<promise>[A-Z_]+</promise>").unwrap();
    let mut statuses = 0;
    for (path, text) in agents {
        // Promises are read by the hook of the stopping agent.
        let text = promise.replace_all(&text, "").into_owned();
        for status in matches(
            r"(?m)(?:^|`)([A-Z]+(?:_[A-Z]+)+|BLOCKED|VERIFIED|REPAIRED|CONFIRMED|SUCCESS|FAILURE|PROCESSED)\b",
            &text,
        ) {
            // `plan report` reads the first; the second is the output of a program.
            let is_read = readers.contains(&status)
                || ["IMPLEMENTATION_VERIFIED", "NO_TESTS"].contains(&status.as_str());
            assert!(is_read, "no prompt reads {status} of {}", path.display());
            statuses += 1;
        }
    }
    assert!(statuses > 20, "{statuses}");
}

#[test]
fn mentioned_commands_exist() {
    let project = Project::new();
    let mut commands = BTreeSet::new();
    for (_, text) in texts_of_all() {
        commands.extend(matches(
            r"loopgate ((?:bootstrap|judges|code-review|loop|plan|hook|stream|cache|repos|debate|plugins) [a-z]+(?:-[a-z]+)*)",
            &text,
        ));
    }
    assert!(commands.len() >= 9, "{commands:?}");
    for command in commands {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let ended = project.loopgate(&words);
        // Set-up has no help: it skips unknown flags, and then fails for another reason.
        assert!(!ended.stderr.contains("unrecognized subcommand"), "{command}: {}", ended.stderr);
    }
}

#[test]
fn plan_template_is_a_valid_plan() {
    let project = Project::new();
    std::fs::write(project.workdir.join("plan.md"), crate::support::plan_template()).unwrap();
    let work = project.workdir.display().to_string();
    let built = project.loopgate(&["plan", "build", &work]);
    assert_eq!(built.stdout, "PLAN_BUILT: VALID\n");
    let validated = project.loopgate(&["plan", "validate", &work]);
    let report: Value = serde_json::from_str(&validated.stdout).unwrap();
    assert_eq!(
        (&report["status"], report["pending_tasks"].as_array().unwrap().len()),
        (&Value::from("VALID"), 1)
    );
}

// PL-41
#[test]
fn texts_do_not_mention_the_assistants_product_name() {
    let owned = Regex::new(
        r"CLAUDE_PLUGIN_ROOT|CLAUDE_PROJECT_DIR|CLAUDE_CODE_SESSION_ID|CLAUDE\.md|\.claude\b|\.claude-plugin",
    )
    .unwrap();
    for (path, text) in texts_of_all() {
        let rest = owned.replace_all(&text, "").to_lowercase();
        assert!(!rest.contains("claude"), "{}", path.display());
        let name = path.strip_prefix(plugin().parent().unwrap()).unwrap().display().to_string();
        assert!(!name.replace(".claude-plugin", "").contains("claude"), "{name}");
    }
}

/// Runs the command of a hook as the assistant does, with the given executable as `LOOPGATE_BIN`.
fn run_hook(event: &str, program: &str, in_loop: bool) -> Ended {
    run_hook_in(Project::new(), event, program, in_loop)
}

fn run_hook_in(project: Project, event: &str, program: &str, in_loop: bool) -> Ended {
    let hooks = std::fs::read_to_string(plugin().join("hooks/hooks.json")).unwrap();
    let hooks: Value = serde_json::from_str(&hooks).unwrap();
    let command = hooks["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    let mut project =
        project.env("CLAUDE_PLUGIN_ROOT", &plugin().display().to_string()).env("LOOPGATE_BIN", program);
    if in_loop {
        project = project.env("LOOPGATE_RUN_ID", "run");
    }
    project.shell(&command)
}

/// Events with a hook that acts in loops only.
const EVENTS: [&str; 6] =
    ["SessionEnd", "SubagentStart", "PreToolUse", "PostToolUse", "Stop", "SubagentStop"];

#[test]
fn hook_outside_a_loop_starts_no_program() {
    for event in EVENTS {
        let project = Project::new().env("CLAUDE_CODE_SESSION_ID", "abc");
        let program = project.path("loopgate");
        std::fs::write(&program, "").unwrap();
        // Not executable: its start would fail.
        let ended = run_hook_in(project, event, &program.display().to_string(), false);
        assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (0, "", ""), "{event}");
    }
}

#[test]
fn hook_acts_for_a_session_that_set_up_a_loop() {
    let project = Project::new().env("CLAUDE_CODE_SESSION_ID", "abc");
    let work = project.workdir.display().to_string();
    assert_eq!(project.loopgate(&["loop", "setup", &work]).code, 0);
    let ended = run_hook_in(project, "PreToolUse", "/nonexistent/loopgate", false);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
}

#[test]
fn hook_runs_the_executable_of_the_loop() {
    for event in EVENTS {
        let ended = run_hook(event, &example().display().to_string(), true);
        assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (0, "", ""), "{event}");
    }
}

#[test]
fn hook_without_executable_denies_tools_within_a_loop() {
    for (event, code) in [("SessionEnd", 1), ("PreToolUse", 2), ("SubagentStop", 1)] {
        let ended = run_hook(event, "/nonexistent/loopgate", true);
        assert_eq!(ended.code, code, "{event}");
        assert!(ended.stderr.contains("the program '/nonexistent/loopgate' is missing"), "{}", ended.stderr);
    }
}

#[tokio::test]
async fn assistant_validates_the_plugins() {
    let model = ModelServer::start(Script::new([])).await.unwrap();
    let mut home = UserHome::temporary().unwrap();
    home.reach_model(&model).unwrap();
    let marketplace = plugin().parent().unwrap().parent().unwrap().to_owned();
    let others = ["bootstrap", "code-review", "judges", "self-learning"].map(crate::support::plugin);
    for dir in [marketplace, plugin()].into_iter().chain(others) {
        let output =
            home.command("claude").args(["plugin", "validate", "--strict"]).arg(&dir).output().await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

#[tokio::test]
async fn plugins_are_installed_and_updated() {
    let model = ModelServer::start(Script::new([])).await.unwrap();
    let mut home = UserHome::temporary().unwrap();
    home.reach_model(&model).unwrap();
    let install = async |names: &[&str]| {
        let mut command = home.command(&example().display().to_string());
        command
            .args(["plugins", "install"])
            .args(names)
            .env("LOOPGATE_ASSISTANT_BIN", home.path().join("bin/claude"));
        Ended::from(command.output().await.unwrap())
    };
    for _ in 0..2 {
        let ended = install(&[]).await;
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(ended.stdout.contains("code@loopgate is installed\n"), "{}", ended.stdout);
    }
    let installed = home.path().join(".claude/plugins/cache/loopgate/code/1.9.3");
    // The assistant keeps a copy for each version, here one with a prompt of an earlier build.
    let page = installed.join("commands/code.md");
    let current = std::fs::read_to_string(&page).unwrap();
    std::fs::write(&page, "an earlier prompt").unwrap();
    assert_eq!(install(&["code"]).await.code, 0);
    assert_eq!(std::fs::read_to_string(&page).unwrap(), current);
    assert!(installed.join("scripts/run-loop.sh").is_file() && installed.join("hooks/run.sh").is_file());
    let matches = home
        .command(&example().display().to_string())
        .args(["plugins", "find", "run-loop.sh"])
        .output()
        .await;
    let matches = Ended::from(matches.unwrap());
    assert_eq!(matches.stdout.trim(), installed.join("scripts/run-loop.sh").display().to_string());
    let unknown = install(&["nope"]).await;
    assert!(
        unknown.code == 1
            && unknown.stderr.contains(
                "unknown plugin nope; available plugins: bootstrap, code, code-review, judges, self-learning"
            )
    );
}

#[test]
fn settings_of_a_loop_are_printed() {
    let project = Project::new();
    let work = project.workdir.display().to_string();
    let missing = project.loopgate(&["plugins", "env", &work]);
    assert!(missing.code == 1 && missing.stderr.starts_with("Error: Config file not found at /"));
    assert_eq!(project.loopgate(&["loop", "setup", &work]).code, 0);
    let ended = project.loopgate(&["plugins", "env", &work]);
    assert!(ended.stdout.starts_with(&format!("LOOPGATE_WORKDIR={work}\n")), "{}", ended.stdout);
    let schema = ended.stdout.lines().find_map(|line| line.strip_prefix("PLAN_SCHEMA_PATH=")).unwrap();
    assert!(Path::new(schema).is_file(), "{schema}");
}

#[test]
fn built_plan_conforms_to_its_schema() {
    let project = Project::new();
    let work = project.workdir.display().to_string();
    std::fs::write(project.workdir.join("plan.md"), crate::support::plan_template()).unwrap();
    project.loopgate(&["plan", "build", &work]);
    project.store_answer("code:task-reviewer", "BLOCKED: T-1.1 no key");
    project.loopgate(&["plan", "report", "T-1.1", &work]);
    let schema = std::fs::read_to_string(plugin().join("schemas/plan-schema.json")).unwrap();
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let plan: Value = serde_json::from_str(&project.read("plan.json")).unwrap();
    assert!(plan["blockedTasks"][0]["reason"] == "no key");
    let faults: Vec<String> = schema.iter_errors(&plan).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{faults:?}");
}

/// Returns the tools of a front matter, without their arguments in parentheses.
fn tools_of(front_matter: &str) -> impl Iterator<Item = String> {
    let lists = Regex::new(r"(?m)^(?:allowed-)?tools: (.+)$").unwrap();
    let lists: Vec<String> = lists.captures_iter(front_matter).map(|matches| matches[1].to_owned()).collect();
    let bracket = Regex::new(r"\([^)]*\)").unwrap();
    lists.into_iter().flat_map(move |list| {
        let names = bracket.replace_all(&list, "").into_owned();
        names.split(',').map(|name| name.trim().to_owned()).collect::<Vec<_>>()
    })
}

#[tokio::test]
async fn mentioned_tools_exist_in_the_assistant() {
    let model =
        ModelServer::start(Script::new([Conversation::when("tools", "hello").says("hello")])).await.unwrap();
    let mut home = UserHome::temporary().unwrap();
    home.reach_model(&model).unwrap();
    // Newer versions otherwise offer some tools only after a search for them.
    home.set("ENABLE_TOOL_SEARCH", "false");
    let output = home.command("claude").args(["-p", "hello"]).output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    let requests = model.requests_of("tools");
    let offered: BTreeSet<&str> = requests[0].tools().iter().map(String::as_str).collect();
    assert!(offered.contains("Agent") && offered.contains("SendMessage"), "{offered:?}");
    // The tools of the Playwright server are optional: a user who wants visual checks installs it.
    let is_available = |tool: &str| offered.contains(tool) || tool.starts_with("mcp__playwright__");

    for (path, text) in texts_of_all() {
        for tool in tools_of(&text) {
            assert!(is_available(&tool), "{} names {tool}, the assistant has {offered:?}", path.display());
        }
        for removed_tool in ["TodoWrite", "AskUserQuestion", "SlashCommand", "MultiEdit"] {
            assert!(!text.contains(removed_tool), "{} names {removed_tool}", path.display());
        }
    }
    let project = Project::new();
    project.assistant(&format!("printf '%s\\n' \"$@\" > $OUT/argv; {DONE}"));
    assert_eq!(project.run(&[]).code, 0);
    let argv = project.note("argv");
    for option in ["--tools=", "--allowed-tools="] {
        let tools = argv.lines().find_map(|line| line.strip_prefix(option)).unwrap();
        for tool in tools.split(',') {
            assert!(is_available(tool), "{option} names {tool}, the assistant has {offered:?}");
        }
    }
}

#[test]
fn hooks_that_an_iteration_overwrites_are_restored_before_the_next() {
    let data_dir = tempfile::tempdir().unwrap();
    let project = Project::new().env("LOOPGATE_HOME", &data_dir.path().display().to_string());
    let overwrite = format!(
        r#"while [ "$1" != --plugin-dir ]; do shift; done
hook="$2/hooks/run.sh"
cat "$hook" >> $OUT/hooks
[ -e $OUT/again ] && {{ {DONE}exit; }}
touch $OUT/again
echo 'exit 0' > "$hook"
echo '{{}}' > "$2/.mcp.json"
{MORE}"#
    );
    project.assistant(&overwrite);
    let ended = project.run(&[]);
    assert_eq!((ended.code, project.statuses()), (0, vec!["in_progress".to_owned(), "completed".to_owned()]));
    let hook = std::fs::read_to_string(plugin().join("hooks/run.sh")).unwrap();
    assert_eq!(project.note("hooks"), hook.repeat(2));
    assert!(
        ended.stdout.contains("are restored: plugins/code/.mcp.json, plugins/code/hooks/run.sh"),
        "{}",
        ended.stdout
    );

    // The runtime passes the directory that it has determined at its start.
    let marketplace =
        std::fs::read_dir(data_dir.path().join("plugins")).unwrap().next().unwrap().unwrap().path();
    let code = marketplace.join("plugins/code");
    std::fs::write(code.join("hooks/run.sh"), "exit 0").unwrap();
    project.assistant("cp \"$2/hooks/run.sh\" $OUT/hooks");
    let code_text = code.display().to_string();
    project.loopgate(&["loop", "assistant", "--", "--plugin-dir", &code_text]);
    assert_eq!(project.note("hooks"), hook);
}
