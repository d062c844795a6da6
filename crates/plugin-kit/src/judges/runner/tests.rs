use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use super::*;

/// Prints the record of a result. The arguments are the text and the cost.
const ANSWER: &str = r#"answer() { printf '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"total_cost_usd":%s,"result":%s}\n' "$2" "$1"; }"#;
const EMPTY: &str = r#"answer '"{\"findings\": []}"' 0.01"#;

const REQUIREMENTS: &str = "# Export\nUsers export their orders as a file.\n\n## Scope\nNo other files.\n";

struct Fixture {
    root: tempfile::TempDir,
    workdir: &'static str,
    category: Category,
    store: Option<&'static str>,
    in_loop: bool,
    limit: Option<Usd>,
    stop: CancellationToken,
}

impl Fixture {
    /// Creates a work directory with requirements, rubrics, and a test double of the assistant. The script finds the
    /// judge's name in `$judge`, the number of the judge's call in `$n`, and the directory of the test in `$OUT`.
    fn new(script: &str) -> Self {
        let fixture = Self {
            root: tempfile::tempdir().unwrap(),
            workdir: "run-7",
            category: Category::Prd,
            store: None,
            in_loop: false,
            limit: None,
            stop: CancellationToken::new(),
        };
        for judge in Category::Prd.judges() {
            fixture.write(&format!("plugin/rubrics/{}.md", judge.name), "Look at the requirements.");
        }
        fixture.write("run-7/prd.md", REQUIREMENTS);
        fixture.script(script);
        fixture
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn script(&self, script: &str) {
        let out = self.root.path().display();
        let text = format!(
            "#!/bin/bash\nOUT='{out}'\n{ANSWER}\nprompt=$(cat)\njudge=$(sed -n '1s/^You are \\(.*\\)\\.$/\\1/p' <<< \"$prompt\")\n\
             n=$(( $(ls \"$OUT/calls\" | grep -c \"^$judge\\.\") + 1 ))\n\
             echo \"$@\" > \"$OUT/calls/$judge.$n\"\nprintf '%s' \"$prompt\" > \"$OUT/prompts/$judge.$n\"\n\
             cp judges.md \"$OUT/shared/$judge.$n\"\n{script}\n"
        );
        self.write("claude", &text);
        std::fs::set_permissions(self.path("claude"), std::fs::Permissions::from_mode(0o755)).unwrap();
        self.forget_calls();
    }

    fn forget_calls(&self) {
        for directory in ["calls", "prompts", "shared"] {
            let _ = std::fs::remove_dir_all(self.path(directory));
            std::fs::create_dir_all(self.path(directory)).unwrap();
        }
    }

    /// Returns the calls, `<judge>.<number>`, sorted.
    fn calls(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path("calls")).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn run(&self) -> Result<EvaluationEnd, String> {
        let run = JudgesRun {
            workdir: self.path(self.workdir),
            category: self.category,
            project: Some(self.path("project")),
            limit: self.limit,
            plugin: self.path("plugin"),
            assistant: self.path("claude").into(),
            env: [("PATH".into(), std::env::var_os("PATH").unwrap())].into(),
            paid: self.store.map(|name| PaidAnswers::at(self.path(name))),
            in_loop: self.in_loop,
            stop: self.stop.clone(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run.run())
    }

    /// Runs to the end, and returns the last line.
    fn completed(&self) -> String {
        match self.run() {
            Ok(EvaluationEnd::Completed(text)) => text.lines().last().unwrap().to_owned(),
            other => panic!("{other:?}"),
        }
    }

    fn case(&self, judge: &str) -> Value {
        let report: Value = serde_json::from_str(&self.read("run-7/prd-judges.json")).unwrap();
        report["stats"].as_array().unwrap().iter().find(|case| case["case_id"] == judge).unwrap().clone()
    }

    fn justification(&self, judge: &str) -> String {
        self.case(judge)["metrics"][0]["justification"].as_str().unwrap().to_owned()
    }
}

const JUDGES: [&str; 4] = ["prd-auditor", "prd-dependency-judge", "prd-scope-judge", "prd-testability-judge"];

#[test]
fn all_judges_are_asked_with_the_same_first_part() {
    let fixture = Fixture::new(EMPTY);
    assert_eq!(
        fixture.completed(),
        "4 judges: 4 passed, 0 below a threshold, 0 failed; cost $0.04; 0 not asked again"
    );
    assert_eq!(fixture.calls(), JUDGES.map(|judge| format!("{judge}.1")));
    let shared = fixture.read("shared/prd-auditor.1");
    assert!(shared.starts_with("You are a judge.") && shared.contains("Users export their orders"));
    for judge in JUDGES {
        assert_eq!(fixture.read(&format!("shared/{judge}.1")), shared);
        let request = fixture.read(&format!("prompts/{judge}.1"));
        assert!(request.starts_with(&format!("You are {judge}.\n\nLook at the requirements.")));
        let arguments = fixture.read(&format!("calls/{judge}.1"));
        assert!(arguments.contains("--tools= ") && arguments.contains("--model sonnet"), "{arguments}");
    }
    let costs: Value = serde_json::from_str(&fixture.read("run-7/prd-judges-cost.json")).unwrap();
    assert_eq!((&costs["total_usd"], costs["judges"].as_array().unwrap().len()), (&json!(0.04), 4));
    let manifest: Value = serde_json::from_str(&fixture.read("run-7/agents-snapshot/manifest.json")).unwrap();
    assert_eq!(manifest["file_count"], 4);
}

#[test]
fn unchanged_judges_are_not_asked_again() {
    let fixture = Fixture::new(EMPTY);
    fixture.completed();
    fixture.forget_calls();
    assert!(fixture.completed().ends_with("cost $0.00; 4 not asked again"));
    assert!(fixture.calls().is_empty());
    fixture.write("plugin/rubrics/prd-scope-judge.md", "Look at the scope.");
    assert!(fixture.completed().ends_with("cost $0.01; 3 not asked again"));
    assert_eq!(fixture.calls(), ["prd-scope-judge.1"]);
    fixture.forget_calls();
    fixture.write("run-7/prd.md", &REQUIREMENTS.replace("orders", "invoices"));
    assert!(fixture.completed().ends_with("0 not asked again"));
    assert_eq!(fixture.calls().len(), 4);
    // An answer that was changed to one without a result is not taken for the judge's.
    fixture.forget_calls();
    fixture.write("run-7/judge-answers/prd-auditor.json", "{}");
    assert!(fixture.completed().ends_with("3 not asked again"));
}

#[test]
fn faulty_answer_is_sent_back_once() {
    let finding = |quote: &str| {
        let finding = json!({"metric": "scope_discipline", "weight": "major", "place": "Export",
            "quote": quote, "explanation": "Not limited."});
        json!(json!({"findings": [finding]}).to_string()).to_string()
    };
    let (unsupported, supported) =
        (finding("Users import their orders"), finding("Users export their orders"));
    let script = |second: &str| {
        format!(
            "if [[ $judge = prd-scope-judge ]]; then\n if [[ $n = 1 ]]; then answer '{unsupported}' 0.01; else {second}; fi\n\
             elif [[ $judge = prd-auditor && $n = 1 ]]; then answer '\"It is good.\"' 0.01\nelse {EMPTY}; fi"
        )
    };
    let fixture = Fixture::new(&script(&format!("answer '{supported}' 0.01")));
    assert_eq!(
        fixture.completed(),
        "4 judges: 4 passed, 0 below a threshold, 0 failed; cost $0.06; 0 not asked again"
    );
    assert_eq!(fixture.case("prd-scope-judge")["metrics"][0]["score"], json!(0.8));
    let correction = fixture.read("prompts/prd-scope-judge.2");
    assert!(
        correction.contains("the words of finding 1 occur in no document: \"Users import their orders\""),
        "{correction}"
    );
    assert!(fixture.read("prompts/prd-auditor.2").contains("the answer is no JSON"));
    // Without a correction, the finding is shown and does not count.
    for second in
        [format!("answer '{unsupported}' 0.01"), "answer '\"Sorry.\"' 0.01".to_owned(), "exit 3".to_owned()]
    {
        let fixture = Fixture::new(&script(&second));
        assert!(fixture.completed().starts_with("4 judges: 4 passed"));
        let text = fixture.justification("prd-scope-judge");
        assert!(text.starts_with("unsupported, not counted: major at Export"), "{text}");
        assert!(!fixture.path("calls/prd-scope-judge.3").exists());
    }
}

// PR-07
#[test]
fn unusable_answers_fail_only_their_judge() {
    let foreign = json!({"findings": [{"metric": "dry_score", "weight": "minor", "place": "1",
        "quote": "Users export their orders", "explanation": "x"}]});
    let foreign = json!(foreign.to_string());
    let script = format!(
        "case $judge in\nprd-auditor) answer '\"{{\\\"findings\\\": [\"' 0.01 ;;\nprd-dependency-judge) answer '{foreign}' 0.01 ;;\n\
         prd-scope-judge) printf '{{\"type\":\"result\",\"subtype\":\"success\",\"result\":\"'; head -c 40000000 /dev/zero | tr '\\0' x; echo '\"}}' ;;\n\
         *) echo 'out of order' >&2; exit 3 ;;\nesac"
    );
    let fixture = Fixture::new(&script);
    assert!(fixture.completed().starts_with("4 judges: 0 passed, 0 below a threshold, 4 failed;"));
    for (judge, reason) in JUDGES.into_iter().zip([
        "the answer is no JSON: EOF",
        "finding 1 has an unknown metric \"dry_score\"",
        "the answer has more than 262144 bytes",
        "the assistant failed with exit code 3: out of order",
    ]) {
        let text = fixture.justification(judge);
        assert!(text.starts_with(&format!("Judge execution failed: {reason}")), "{judge}: {text}");
        assert_eq!(fixture.case(judge)["final_status"], 3);
    }
    assert_eq!(fixture.calls().len(), 7, "three answers were sent back, a failed call was not");
    // Empty output, and a judge that cannot judge, which is not sent back.
    let fixture = Fixture::new(
        r#"if [[ $judge = prd-auditor ]]; then answer '"{\"error\": \"there are no rows\"}"' 0.01; else true; fi"#,
    );
    fixture.completed();
    assert!(fixture.justification("prd-auditor").ends_with(": there are no rows"));
    assert!(fixture.justification("prd-scope-judge").contains("the answer is no JSON"));
    // They are asked again.
    fixture.script(EMPTY);
    assert!(fixture.completed().starts_with("4 judges: 4 passed"));
}

#[test]
fn usage_limit_ends_the_run_and_the_next_one_continues() {
    let limit = r#"printf '{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"Usage limit reached"}\n'; exit 1"#;
    let fixture = Fixture::new(&format!("if [[ $judge = prd-auditor ]]; then {EMPTY}; else {limit}; fi"));
    let error = fixture.run().unwrap_err();
    assert!(error.contains("4 judges: 1 passed, 0 below a threshold, 3 failed"), "{error}");
    assert!(error.contains("\nThe assistant's rate limit is reached."), "{error}");
    fixture.script(EMPTY);
    assert_eq!(
        fixture.completed(),
        "4 judges: 4 passed, 0 below a threshold, 0 failed; cost $0.03; 1 not asked again"
    );
    let missing = Fixture::new(EMPTY);
    std::fs::remove_file(missing.path("claude")).unwrap();
    assert!(missing.run().unwrap_err().contains("4 failed"));
}

#[test]
fn spending_limit_is_that_of_all_judges() {
    let mut fixture = Fixture::new(&EMPTY.replace("0.01", "0.06"));
    fixture.limit = Some("0.05".parse().unwrap());
    let Ok(EvaluationEnd::LimitReached(error)) = fixture.run() else { panic!("the limit is not reached") };
    assert!(
        error.ends_with(
            "The spending limit of $0.05 is reached. Run the same command to ask the other judges."
        ),
        "{error}"
    );
    let budget = |call: &str| fixture.read(call).split_once("--max-budget-usd ").unwrap().1[..8].to_owned();
    assert_eq!(budget("calls/prd-auditor.1"), "0.012500");
    assert_eq!(fixture.calls(), ["prd-auditor.1"]);
    let used_up = r#"printf '{"type":"result","subtype":"error_max_budget_usd","is_error":true,"total_cost_usd":0.03}\n'; exit 1"#;
    let mut fixture = Fixture::new(used_up);
    fixture.limit = Some("1".parse().unwrap());
    fixture.completed();
    assert!(fixture.justification("prd-auditor").contains("share of the spending limit is used up"));
}

#[test]
fn interruption_ends_the_calls() {
    let fixture = Fixture::new("echo $$ > \"$OUT/pid\"; mkfifo \"$OUT/never\"; read < \"$OUT/never\"");
    let (stop, pid) = (fixture.stop.clone(), fixture.path("pid"));
    let watcher = std::thread::spawn(move || {
        // The file appears when the script waits.
        while std::fs::read_to_string(&pid).map_or(true, |text| !text.ends_with('\n')) {
            std::thread::yield_now();
        }
        stop.cancel();
        std::fs::read_to_string(&pid).unwrap().trim().parse::<u32>().unwrap()
    });
    assert_eq!(fixture.run(), Ok(EvaluationEnd::Interrupted));
    assert!(!loop_run::child::process_exists(watcher.join().unwrap()));
    assert!(!fixture.path("run-7/prd-judges.json").exists());
}

// PR-05
#[test]
fn run_without_requirements_starts_no_judge() {
    let fixture = Fixture::new(EMPTY);
    std::fs::remove_file(fixture.path("run-7/prd.md")).unwrap();
    assert_eq!(fixture.completed(), "No report");
    assert!(fixture.calls().is_empty());
    // The default directory is created, and not committed.
    let mut fixture = Fixture::new(EMPTY);
    fixture.workdir = ".loopgate/judges";
    assert_eq!(fixture.completed(), "No report");
    assert!(fixture.path(".loopgate/judges").is_dir());
    assert_eq!(fixture.read(".loopgate/.gitignore"), "*\n");
    // A wrong input file is not replaced.
    let fixture = Fixture::new(EMPTY);
    fixture.write("run-7/judge-input.json", "{}");
    assert!(fixture.run().unwrap_err().contains("Validation errors in "));
    assert!(fixture.calls().is_empty() && fixture.case("prd-auditor")["final_status"] == 3);
    // A missing rubric fails its judge only.
    let fixture = Fixture::new(EMPTY);
    std::fs::remove_file(fixture.path("plugin/rubrics/prd-auditor.md")).unwrap();
    assert!(fixture.completed().starts_with("4 judges: 3 passed, 0 below a threshold, 1 failed"));
}

#[test]
fn answers_are_found_in_other_work_directories() {
    let mut fixture = Fixture::new(EMPTY);
    fixture.store = Some("data");
    fixture.completed();
    fixture.forget_calls();
    fixture.workdir = "run-8";
    fixture.write("run-8/prd.md", REQUIREMENTS);
    assert!(fixture.completed().ends_with("cost $0.00; 4 not asked again"));
    assert!(fixture.calls().is_empty());
    let report: Value = serde_json::from_str(&fixture.read("run-8/prd-judges.json")).unwrap();
    assert_eq!(report["cost"], json!({"total_usd": 0.0, "calls": 0, "not_asked_again": 4}));
    // An answer about other requirements.
    fixture.write("run-8/prd.md", &REQUIREMENTS.replace("orders", "invoices"));
    assert!(fixture.completed().ends_with("0 not asked again"));
}

#[test]
fn judges_of_the_project_are_asked_and_reported() {
    let finding = json!({"findings": [{"metric": "totals_are_exact", "weight": "blocking", "place": "Export",
        "quote": "Users export their orders", "explanation": "No rounding."}]});
    let finding = json!(finding.to_string());
    let fixture =
        Fixture::new(&format!("if [[ $judge = money ]]; then answer '{finding}' 0.01; else {EMPTY}; fi"));
    let file = "---\nname: money\napplies: prd\nmodel: haiku\nmetrics: totals_are_exact 0.8\n---\nLook at amounts.\n";
    fixture.write("project/.loopgate/judges/money.md", file);
    fixture
        .write("project/.loopgate/judges/other.md", &file.replace("money", "other").replace("prd", "code"));
    fixture.write("project/.loopgate/judges/broken.md", "Look at amounts.");
    assert!(fixture.completed().starts_with("6 judges: 4 passed, 1 below a threshold, 1 failed"));
    assert_eq!(fixture.case("money")["metrics"][0]["findings"][0]["explanation"], "No rounding.");
    assert_eq!(fixture.case("money")["final_status"], 2);
    assert!(fixture.read("calls/money.1").contains("--model haiku"));
    assert!(fixture.read("prompts/money.1").contains("Look at amounts.\n\nMetrics: totals_are_exact."));
    assert!(!fixture.path("calls/broken.1").exists() && !fixture.path("calls/other.1").exists());
    assert!(fixture.justification("broken").contains(".loopgate/judges/broken.md: the file must begin with"));
    // Only the judge whose file has changed is asked again.
    fixture.forget_calls();
    fixture.write("project/.loopgate/judges/money.md", &file.replace("Look at", "Check"));
    assert!(fixture.completed().ends_with("4 not asked again"));
    assert_eq!(fixture.calls(), ["money.1"]);
}

#[test]
fn structure_of_requirements_is_checked_without_a_model() {
    let fixture = Fixture::new(EMPTY);
    fixture.write("run-7/prd.md", "# Export\n\n**US-1**: As a user I export files.\n\n## Scope\nFiles.\n");
    assert!(fixture.completed().starts_with("4 judges: 3 passed, 1 below a threshold"));
    let metric = fixture.case("prd-auditor")["metrics"][0].clone();
    assert_eq!(metric["score"], 0.0);
    let expected = json!([{"weight": "blocking", "place": "line 3", "quote": "**US-1**: As a user I export files.",
        "explanation": "US-1 has no acceptance criterion AC-1.n.", "is_supported": true, "is_computed": true}]);
    assert_eq!(metric["findings"], expected);
}

#[test]
fn second_run_in_a_work_directory_is_refused() {
    let fixture = Fixture::new(EMPTY);
    let held = lock(&fixture.path("run-7")).unwrap();
    let error = fixture.run().unwrap_err();
    assert!(error.contains("judges already run in ") && fixture.calls().is_empty(), "{error}");
    drop(held);
    fixture.completed();
}

// A plan that is no text has no context.
#[test]
fn plan_without_context_is_judged_in_fallback_mode() {
    let mut fixture = Fixture::new("answer '\"{\\\"error\\\": \\\"x\\\"}\"' 0.01");
    fixture.category = Category::Plan;
    std::fs::write(fixture.path("run-7/plan.md"), b"# Plan\n\nWrite the orders to a file \xff\n").unwrap();
    fixture.completed();
    let input: Value = serde_json::from_str(&fixture.read("run-7/judge-input.json")).unwrap();
    assert_eq!(input["fallback_mode"]["active"], true);
    assert_eq!(
        (&input["primary_artifact"]["path"], &input["supporting_artifacts"][0]["path"]),
        (&json!("plan.md"), &json!("prd.md"))
    );
    let report: Value = serde_json::from_str(&fixture.read("run-7/plan-judges.json")).unwrap();
    assert!(report["omitted"][0].as_str().unwrap().contains("No context: plan.md"), "{report}");
    // The next run has a context.
    fixture.write("run-7/plan.md", "# Plan\n\nWrite the orders to a file\n");
    fixture.completed();
    let input: Value = serde_json::from_str(&fixture.read("run-7/judge-input.json")).unwrap();
    assert_eq!(
        (&input["primary_artifact"]["path"], &input["fallback_mode"]["active"]),
        (&json!("plan-context.json"), &json!(false))
    );
}
