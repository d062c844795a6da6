//! Checks the plugin's texts against the programs, agents and tools that they mention.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use loopgate_testkit::home::UserHome;
use loopgate_testkit::model::{Conversation, ModelServer, Script};
use regex::Regex;
use serde_json::Value;

use crate::support::{DONE, Ended, Project, example};

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
fn mentioned_commands_exist() {
    let project = Project::new();
    let mut commands = BTreeSet::new();
    for (_, text) in texts(&plugin()) {
        commands.extend(matches(
            r"loopgate ((?:loop|plan|hook|stream|cache|repos|debate|plugins) [a-z]+(?:-[a-z]+)*)",
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
    let owned = Regex::new(r"CLAUDE_PLUGIN_ROOT|CLAUDE\.md|\.claude\b|\.claude-plugin").unwrap();
    for (path, text) in texts(&plugin()) {
        let rest = owned.replace_all(&text, "").to_lowercase();
        assert!(!rest.contains("claude"), "{}", path.display());
        let name = path.strip_prefix(plugin()).unwrap().display().to_string();
        assert!(!name.replace(".claude-plugin", "").contains("claude"), "{name}");
    }
}

/// Runs the command of a hook as the assistant does, with the given executable as `LOOPGATE_BIN`.
fn run_hook(event: &str, program: &str, in_loop: bool) -> Ended {
    let hooks = std::fs::read_to_string(plugin().join("hooks/hooks.json")).unwrap();
    let hooks: Value = serde_json::from_str(&hooks).unwrap();
    let command = hooks["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    let mut project = Project::new()
        .env("CLAUDE_PLUGIN_ROOT", &plugin().display().to_string())
        .env("LOOPGATE_BIN", program);
    if in_loop {
        project = project.env("LOOPGATE_RUN_ID", "run");
    }
    project.shell(&command)
}

#[test]
fn hook_runs_the_executable_of_the_loop() {
    for event in ["SessionStart", "SessionEnd", "SubagentStart", "PreToolUse", "SubagentStop"] {
        let ended = run_hook(event, &example().display().to_string(), true);
        assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (0, "", ""), "{event}");
    }
}

#[test]
fn hook_without_executable_denies_tools_within_a_loop() {
    for (event, in_loop, code) in [
        ("SessionStart", true, 1),
        ("PreToolUse", false, 1),
        ("PreToolUse", true, 2),
        ("SubagentStop", true, 1),
    ] {
        let ended = run_hook(event, "/nonexistent/loopgate", in_loop);
        assert_eq!(ended.code, code, "{event}");
        assert!(ended.stderr.contains("the program '/nonexistent/loopgate' is missing"), "{}", ended.stderr);
    }
}

#[tokio::test]
async fn assistant_validates_the_plugins() {
    let model = ModelServer::start(Script::new([])).await.unwrap();
    let mut home = UserHome::temporary().unwrap();
    home.reach_model(&model).unwrap();
    let marketplace = plugin().parent().unwrap().to_owned();
    for dir in [marketplace, plugin(), crate::support::plugin("self-learning")] {
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
            && unknown.stderr.contains("unknown plugin nope; available plugins: code, self-learning")
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
    project.store_answer("task-reviewer", "BLOCKED: T-1.1 no key");
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

    for (path, text) in texts(&plugin()) {
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
