//! Set-up, as the slash command `/code:code` runs it.

use crate::support::Project;

fn value(config: &str, key: &str) -> String {
    let line = config.lines().find_map(|line| line.strip_prefix(&format!("{key}="))).unwrap();
    line.trim_matches('"').to_owned()
}

fn config(project: &Project) -> String {
    project.read(".loopgate/config.env")
}

// PL-01
#[test]
fn paths_with_spaces_are_joined() {
    let project = Project::with_workdir("My Work");
    let work = project.workdir.display().to_string();
    // The shell splits unquoted paths at spaces; set-up joins the words again.
    let (before, after) = work.split_once(' ').unwrap();
    let prd = format!("{after}/the");
    std::fs::write(project.workdir.join("the prd.md"), "x").unwrap();
    let ended = project.loopgate(&["loop", "setup", before, after, "--prd", before, &prd, "prd.md"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(value(&config(&project), "LOOPGATE_WORKDIR"), work);
    assert_eq!(value(&config(&project), "LOOPGATE_PRD_FILE"), format!("{work}/the prd.md"));
    assert!(ended.stdout.lines().next().unwrap().ends_with("/.loopgate/config.env"));
    assert!(ended.stdout.contains(config(&project).trim_end()));
}

// PL-02, PL-03, PL-04, PL-05
#[test]
fn plan_comes_from_the_arguments_or_the_environment() {
    let project = Project::new();
    std::fs::write(project.root.join("plan.md"), "x").unwrap();
    std::fs::write(project.workdir.join("prd.md"), "x").unwrap();
    let work = project.workdir.display().to_string();
    let ended = project.loopgate(&["loop", "setup", &work, "--plan", "plan.md"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(
        value(&ended.stdout, "LOOPGATE_PLAN_FILE"),
        project.root.join("plan.md").display().to_string()
    );
    assert_eq!(value(&ended.stdout, "LOOPGATE_PRD_FILE"), "");
    let missing = project.loopgate(&["loop", "setup", &work, "--plan", "/nope"]);
    assert_eq!((missing.code, missing.stderr.as_str()), (1, "Error: plan file not found: /nope\n"));
    let missing = project.loopgate(&["loop", "setup", &work, "--prd", "nope.md", "and more"]);
    assert_eq!(
        (missing.code, missing.stderr.as_str()),
        (1, "Error: requirements file not found: nope.md and more\n")
    );
    let both = project.loopgate(&["loop", "setup", &work, "--plan", "x.md", "--prd", "y.md"]);
    assert!(both.code == 1 && both.stderr.contains("mutually exclusive"));
    let project = project.env("LOOPGATE_PLAN_FILE", "/handed/in.md").env("LOOPGATE_COMMAND", "EXECUTE");
    let ended = project.loopgate(&["loop", "setup", &work]);
    assert_eq!(value(&ended.stdout, "LOOPGATE_PLAN_FILE"), "/handed/in.md");
    assert_eq!(value(&ended.stdout, "LOOPGATE_COMMAND"), "EXECUTE");
    assert!(value(&ended.stdout, "LOOPGATE_PRD_FILE").ends_with("/prd.md"));
}

// PL-06
#[test]
fn second_run_is_idempotent_and_keeps_the_start_commit() {
    let project = Project::new();
    let work = project.workdir.display().to_string();
    std::fs::create_dir_all(project.workdir.join(".loopgate")).unwrap();
    std::fs::write(project.workdir.join(".loopgate/config.env"), "LOOPGATE_START_SHA=abc\n").unwrap();
    assert_eq!(project.loopgate(&["loop", "setup", &work]).code, 0);
    let first = config(&project);
    assert_eq!(project.loopgate(&["loop", "setup", &work]).code, 0);
    assert_eq!(config(&project), first);
    assert_eq!(first.matches("LOOPGATE_START_SHA=abc\n").count(), 1);
    let keys: Vec<&str> = first.lines().map(|line| line.split_once('=').unwrap().0).collect();
    assert_eq!(
        keys,
        [
            "LOOPGATE_WORKDIR",
            "LOOPGATE_PRD_FILE",
            "LOOPGATE_PLAN_FILE",
            "LOOPGATE_MAX_ITERATIONS",
            "CLAUDE_PLUGIN_ROOT",
            "LOOPGATE_PROMPT_FILE",
            "LOOPGATE_ADD_DIRS",
            "LOOPGATE_ADD_DIR_NAMES",
            "LOOPGATE_REPO_MAP",
            "LOOPGATE_START_SHA",
        ]
    );
    assert!(std::path::Path::new(&value(&first, "LOOPGATE_PROMPT_FILE")).is_file());
}

// PL-07, PL-08
#[test]
fn further_repositories_get_unique_names() {
    let project = Project::new();
    for dir in ["one/api", "two/api"] {
        std::fs::create_dir_all(project.path(dir)).unwrap();
    }
    let dir = |name: &str| project.path(name).display().to_string();
    let work = project.workdir.display().to_string();
    // Directories that contain the work directory, are it, or are inside it are not peers.
    let (above, below) = (project.root.display().to_string(), project.workdir.join("below"));
    std::fs::create_dir(&below).unwrap();
    let ended = project.loopgate(&[
        "loop",
        "setup",
        &work,
        "--add-dir",
        &dir("one/api"),
        "--add-dir",
        &dir("two/api"),
        "--add-dir",
        &above,
        "--add-dir",
        &work,
        "--add-dir",
        &below.display().to_string(),
    ]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(value(&ended.stdout, "LOOPGATE_ADD_DIR_NAMES"), "api|api-two");
    let map = value(&ended.stdout, "LOOPGATE_REPO_MAP");
    assert_eq!(map, format!("api={}|api-two={}", dir("one/api"), dir("two/api")));
}

#[test]
fn errors_contain_the_invalid_value() {
    let project = Project::new();
    let missing = project.loopgate(&["loop", "setup", "/nope"]);
    assert_eq!(missing.stderr, "Error: workdir path does not exist or is not a directory: /nope\n");
    std::fs::create_dir(project.root.join("src")).unwrap();
    std::fs::write(project.root.join("src/notes.md"), "x").unwrap();
    project.git(&["add", "src"]);
    project.git(&["-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-qm", "notes"]);
    for directory in [".", "./src"] {
        let refused = project.loopgate(&["loop", "setup", directory]);
        assert!(
            refused.code == 1 && refused.stderr.contains("contains files of the project"),
            "{}",
            refused.stderr
        );
    }
    let work = project.workdir.display().to_string();
    let prompt = project.loopgate(&["loop", "setup", &work, "--prompt", "none"]);
    assert!(prompt.code == 1 && prompt.stderr.starts_with("ERROR: Prompt 'none' not found (no "));
    assert!(prompt.stderr.ends_with("Available prompts:\nprompt\n"), "{}", prompt.stderr);
}

// PL-09
#[test]
fn assistant_session_is_mapped_to_the_work_directory() {
    let project = Project::new().env("CLAUDE_CODE_SESSION_ID", "abc");
    let work = project.workdir.display().to_string();
    assert_eq!(project.loopgate(&["loop", "setup", &work]).code, 0);
    let mapping = project.root.join(".loopgate/session-abc.workdir");
    assert_eq!(std::fs::read_to_string(mapping).unwrap(), work);
}

#[test]
fn request_starts_a_loop_and_no_arguments_continue_it() {
    let project = Project::new();
    std::fs::write(project.root.join("Cargo.toml"), "[package]\n").unwrap();
    let asked = project.loopgate(&["loop", "setup"]);
    assert_eq!(asked.code, 1);
    assert!(asked.stderr.starts_with("No loop is open in this project."), "{}", asked.stderr);
    let started = project.loopgate(&["loop", "setup", "add", "a", "--json", "flag"]);
    assert_eq!((started.code, started.stderr.as_str()), (0, ""));
    assert_eq!(project.read("prd.md"), "add a --json flag\n");
    let prd = project.workdir.join("prd.md").display().to_string();
    for text in [started.stdout, project.loopgate(&["loop", "setup"]).stdout] {
        assert_eq!(value(&text, "LOOPGATE_WORKDIR"), project.workdir.display().to_string());
        assert_eq!(value(&text, "LOOPGATE_PRD_FILE"), prd);
        assert_eq!(value(&text, "LOOPGATE_START_SHA"), project.git(&["rev-parse", "HEAD"]));
    }
    assert_eq!(project.git(&["status", "--porcelain"]), "?? Cargo.toml", "the files of the loop are ignored");
    let further = project.loopgate(&["loop", "setup", "--prd", "Cargo.toml"]);
    assert!(value(&further.stdout, "LOOPGATE_WORKDIR").ends_with("/.loopgate/work-2"));
    assert_eq!(project.read("prd.md"), "add a --json flag\n", "an earlier loop is not overwritten");
}

/// Calls the hook for the expansion of a command, and then the block of its page.
fn expand(project: &Project, command: &str, arguments: &str) -> (String, crate::support::Ended) {
    let input = serde_json::json!({"session_id": "abc", "cwd": project.root, "command_name": command,
        "command_args": arguments});
    let hook = project.loopgate_with_input(&["hook", "prompt-expansion"], &input.to_string());
    assert_eq!((hook.code, hook.stderr.as_str()), (0, ""));
    (hook.stdout, project.loopgate(&["hook", "page"]))
}

#[test]
fn page_prints_what_its_hook_prepared() {
    let project = Project::with_workdir("it's my work");
    let plugin = crate::support::plugin("code").display().to_string();
    let project = project.env("CLAUDE_CODE_SESSION_ID", "abc").env("CLAUDE_PLUGIN_ROOT", &plugin);
    let work = project.workdir.display().to_string();
    let (answer, page) = expand(&project, "code:code", &format!("\"{work}\" --max-iterations 7"));
    assert_eq!((answer.as_str(), page.code), ("", 0), "{}", page.stderr);
    assert_eq!(value(&page.stdout, "LOOPGATE_WORKDIR"), work);
    assert_eq!(value(&page.stdout, "LOOPGATE_MAX_ITERATIONS"), "7");
    assert_eq!(value(&page.stdout, "CLAUDE_PLUGIN_ROOT"), plugin);
    assert!(project.root.join(".loopgate/session-abc.workdir").exists());
    let again = project.loopgate(&["hook", "page"]);
    assert!(again.code == 1 && again.stderr.contains("did not run"), "{}", again.stderr);
    let (answer, page) = expand(&project, "code:code", "/nope --prompt x");
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["continue"], false);
    assert!(answer["stopReason"].as_str().unwrap().contains("workdir path does not exist"), "{answer}");
    assert_eq!(page.code, 1, "no text of an earlier command is printed");
    let (answer, page) = expand(&project, "code:amend-plan", &format!("--workdir {work} --message drop it"));
    assert!(answer.contains("there is no plan.json") && page.code == 1, "{answer}");
    std::fs::write(project.workdir.join("plan.json"), "{}").unwrap();
    let (_, page) = expand(&project, "code:amend-plan", &format!("--workdir {work} --message drop it"));
    assert!(page.stdout.ends_with("User: drop it\n"), "{}", page.stdout);
}

#[test]
fn plugin_of_another_version_stops_the_command() {
    let project = Project::new().env("CLAUDE_CODE_SESSION_ID", "abc");
    let old = project.path("old/code");
    std::fs::create_dir_all(old.join(".claude-plugin")).unwrap();
    std::fs::write(old.join(".claude-plugin/plugin.json"), r#"{"name": "code", "version": "1.0.0"}"#)
        .unwrap();
    let project = project.env("CLAUDE_PLUGIN_ROOT", &old.display().to_string());
    let (answer, _) = expand(&project, "code:code", "add a flag");
    assert!(
        answer.contains("the plugin `code` has version 1.0.0") && answer.contains("plugins install"),
        "{answer}"
    );
    assert!(!project.workdir.join("prd.md").exists());
}

#[test]
fn prompt_is_printed_with_the_values_of_the_loop() {
    let project = Project::with_workdir("my $work").env("LOOPGATE_COMMAND", "PLAN");
    std::fs::write(project.workdir.join("prd.md"), "request").unwrap();
    let work = project.workdir.display().to_string();
    let ended = project.loopgate(&["loop", "setup", &work]);
    let (_, prompt) = ended.stdout.split_once("\n\n# Orchestrator").unwrap();
    assert!(!prompt.contains("{{"), "every value is filled in");
    assert!(prompt.contains(&format!("| WORKDIR | `{work}`")) && prompt.contains("| COMMAND | `PLAN`"));
    let quoted = work.replace('$', "\\$");
    assert!(prompt.contains(&format!("`loopgate plan validate \"{quoted}\"`")));
}

#[test]
fn edits_of_the_plan_text_are_built_before_an_iteration() {
    let project = Project::new();
    let work = project.workdir.display().to_string();
    let text = crate::support::plan_template();
    std::fs::write(project.workdir.join("plan.md"), &text).unwrap();
    assert_eq!(project.loopgate(&["plan", "build", &work]).code, 0);
    let line = text.lines().find(|line| line.contains("Q-001")).unwrap();
    let answered = text.replace(line, "- [x] Q-001: Which one? **Answer: the small one**");
    std::fs::write(project.workdir.join("plan.md"), answered).unwrap();
    let ended = project.loopgate(&["loop", "setup", &work]);
    assert!(ended.stdout.contains("PLAN_SYNC: BUILT plan.json\n"), "{}", ended.stdout);
    let plan: serde_json::Value = serde_json::from_str(&project.read("plan.json")).unwrap();
    assert_eq!(plan["answeredQuestions"][0]["answer"], "the small one");
}
