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
    let prompt = project.loopgate(&["loop", "setup", ".", "--prompt", "none"]);
    assert!(prompt.code == 1 && prompt.stderr.starts_with("ERROR: Prompt 'none' not found (no "));
    assert!(prompt.stderr.ends_with("Available prompts:\nprompt\n"), "{}", prompt.stderr);
}

// PL-09
#[test]
fn assistant_session_is_mapped_to_the_work_directory() {
    for (project, note) in [
        (Project::new().env("CLAUDE_CODE_SESSION_ID", "abc"), None),
        // The session is recorded for the process that starts set-up, which is this test.
        (Project::new(), Some(format!(".loopgate/pid-{}.session", std::process::id()))),
    ] {
        if let Some(note) = note {
            std::fs::write(project.root.join(note), "abc\n").unwrap();
        }
        let work = project.workdir.display().to_string();
        assert_eq!(project.loopgate(&["loop", "setup", &work]).code, 0);
        let mapping = project.root.join(".loopgate/session-abc.workdir");
        assert_eq!(std::fs::read_to_string(mapping).unwrap(), work);
    }
}

#[test]
fn arguments_on_standard_input_are_data() {
    let project = Project::with_workdir("it's my work");
    let plugin = crate::support::plugin("code").display().to_string();
    let marker = project.path("executed");
    let set_up = |arguments: &str| {
        project.loopgate_with_input(&["loop", "setup", "--stdin"], &format!("{plugin}\n{arguments}\n"))
    };
    let ended = set_up(&format!("work; touch {}", marker.display()));
    assert!(
        ended.stderr.starts_with("Error: workdir path does not exist or is not a directory: work; touch /")
    );
    let ended = set_up(&project.workdir.display().to_string());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(value(&ended.stdout, "LOOPGATE_WORKDIR"), project.workdir.display().to_string());
    assert_eq!(value(&ended.stdout, "CLAUDE_PLUGIN_ROOT"), plugin);
    let ended = set_up(&format!("\"{}\" --max-iterations 7", project.workdir.display()));
    assert_eq!(value(&ended.stdout, "LOOPGATE_MAX_ITERATIONS"), "7");
    assert!(!marker.exists());
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
