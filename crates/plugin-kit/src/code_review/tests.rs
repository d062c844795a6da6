use clap::Parser;
use loopgate_testkit::git::git;
use serde_json::{Value, json};

use super::*;

#[derive(Debug, Parser)]
struct ReviewCli {
    #[command(subcommand)]
    command: CodeReviewCommand,
}

/// A repository with one commit.
struct TestRepository {
    dir: tempfile::TempDir,
}

impl TestRepository {
    fn new() -> Self {
        let repository = Self { dir: tempfile::tempdir().unwrap() };
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.write("src/a.rs", "one\ntwo\nthree\n");
        repository.write(".gitignore", "*.local\n");
        repository.commit();
        repository
    }

    fn git(&self, args: &[&str]) -> String {
        git(self.dir.path(), args).unwrap()
    }

    fn commit(&self) {
        self.git(&["add", "--all", "--force"]);
        self.git(&["commit", "--quiet", "-m", "Change"]);
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn parsed(&self, command: &str, args: &[&str]) -> CodeReviewCommand {
        let workdir = self.dir.path().join("src").display().to_string();
        let start = ["loopgate", command, "--workdir", &workdir];
        ReviewCli::try_parse_from(start.iter().chain(args)).unwrap().command
    }

    /// Findings as the command prints them as text.
    fn hygiene(&self, args: &[&str]) -> Vec<String> {
        let CodeReviewCommand::Hygiene(args) = self.parsed("hygiene", args) else { panic!() };
        hygiene::findings(&args).unwrap().iter().map(hygiene::line).collect()
    }

    fn exit_code(&self, args: &[&str]) -> ExitCode {
        self.parsed("hygiene", args).run()
    }
}

fn is_code(code: ExitCode, expected: u8) -> bool {
    format!("{code:?}") == format!("{:?}", ExitCode::from(expected))
}

#[test]
fn working_tree_and_index_are_checked() {
    let repository = TestRepository::new();
    let start = repository.git(&["rev-parse", "HEAD"]).trim().to_owned();
    assert_eq!(repository.hygiene(&[]), [""; 0]);
    assert!(is_code(repository.exit_code(&[]), 0));
    repository.write("src/a.rs", "one\ntwo\nopen(\"/home/sam/x\")\n");
    repository.write("größe \"x\".ts", "a\nconst root = '/home/runner/x';\n");
    let path = "MEDIUM src/a.rs:3 Absolute path of a machine [path-leakage]: open(\"/home/sam/x\")";
    let runner = [
        "HIGH größe \"x\".ts:2 Path of a CI machine [ci-artifact]: const root = '/home/runner/x';",
        "HIGH größe \"x\".ts:2 Absolute path of a machine [path-leakage]: const root = '/home/runner/x';",
    ];
    assert_eq!(repository.hygiene(&[]), [runner[0], runner[1], path]);
    assert!(is_code(repository.exit_code(&[]), 1));
    assert_eq!(repository.hygiene(&["--staged"]), [""; 0]);
    repository.git(&["add", "src/a.rs"]);
    assert_eq!(repository.hygiene(&["--staged"]), [path]);
    assert!(is_code(repository.exit_code(&["--staged"]), 0), "no finding is HIGH");
    // An unchanged comment above the line allows the finding.
    repository.write("src/a.rs", "one\n// loopgate: allow path-leakage — path of the image\nthree\n");
    repository.commit();
    repository.write(
        "src/a.rs",
        "one\n// loopgate: allow path-leakage — path of the image\nopen(\"/home/sam/x\")\n",
    );
    assert_eq!(repository.hygiene(&[]), [""; 0]);
    // Commits since the base count, and those that only the base has do not.
    assert_eq!(repository.hygiene(&["--base", &start]), runner);
    repository.git(&["checkout", "--quiet", "-b", "other", &start, "--force"]);
    repository.write("src/b.rs", "x\n");
    repository.commit();
    assert_eq!(repository.hygiene(&["--base", "main"]), [""; 0]);
    repository.git(&["update-ref", "refs/remotes/origin/release", &start]);
    assert_eq!(repository.hygiene(&["--base", "release"]), [""; 0]);
}

// PR-13
#[test]
fn ignored_file_is_no_drift() {
    let repository = TestRepository::new();
    repository.write("web/.env.local", "A=1\n");
    repository.git(&["add", "--force", "web/.env.local"]);
    let sensitive = "HIGH web/.env.local:1 File with a name for secrets [sensitive-file]";
    assert_eq!(repository.hygiene(&["--staged"]), [sensitive]);
    repository.write(".gitignore", "");
    let drift = "HIGH web/.env.local:1 Local file is not ignored by git [gitignore-drift]";
    assert_eq!(repository.hygiene(&["--staged"]), [drift, sensitive]);
}

#[test]
fn change_that_cannot_be_checked_is_an_error() {
    let repository = TestRepository::new();
    assert!(is_code(repository.exit_code(&["--base", "missing"]), 2));
    assert!(is_code(repository.exit_code(&["--base=--output=x"]), 2));
    assert!(is_code(repository.exit_code(&["--diff-data", "/nonexistent"]), 2));
    assert!(ReviewCli::try_parse_from(["loopgate", "hygiene", "--staged", "--base", "main"]).is_err());
    let outside = tempfile::tempdir().unwrap();
    let workdir = outside.path().display().to_string();
    let cli = ReviewCli::try_parse_from(["loopgate", "hygiene", "--workdir", &workdir]).unwrap();
    assert!(is_code(cli.command.run(), 2));
}

#[test]
fn repository_without_commits_is_checked() {
    let repository = TestRepository { dir: tempfile::tempdir().unwrap() };
    repository.git(&["init", "--quiet"]);
    repository.write("src/a.ts", "open('/Users/sam')\n");
    let finding = "HIGH src/a.ts:1 Absolute path of a machine [path-leakage]: open('/Users/sam')";
    assert_eq!(repository.hygiene(&[]), [finding]);
    repository.git(&["add", "--all"]);
    assert_eq!(repository.hygiene(&["--staged"]), [finding]);
}

#[test]
fn documents_are_read_and_the_verdict_is_written() {
    let repository = TestRepository::new();
    repository.write("src/a.rs", "one\n2\nthree\n");
    let CodeReviewCommand::ParseDiff(args) = repository.parsed("parse-diff", &[]) else { panic!() };
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let store = |name: &str, text: &str| std::fs::write(path(name), text).unwrap();
    store("diff_data.json", &parse_diff(&args).unwrap());
    let data: DiffData = read(&path("diff_data.json")).unwrap();
    assert_eq!((data.files_to_review, data.total_loc), (vec!["src/a.rs".to_owned()], 2));
    let finding = json!({"file": "src/a.rs", "line": 2, "severity": "critical", "issue": "[P0] Wrong", "confidence": 0.9});
    store("findings.json", &json!([finding]).to_string());
    let args = ValidateFindingsArgs { findings: path("findings.json"), diff_data: path("diff_data.json") };
    store("validate_output.json", &validate_findings(&args).unwrap());
    let printed = write_verdict(&path("validate_output.json")).unwrap();
    assert_eq!(std::fs::read_to_string(path("verdict.json")).unwrap(), printed);
    let report: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(
        (report["verdict"].as_str(), report["reason"].as_str()),
        (Some("decline"), Some("[P0] Wrong"))
    );
    let gates = Some(path("missing.json"));
    let args =
        RouteArgs { diff_data: path("diff_data.json"), critic_gates: gates, intent: intent("fix").unwrap() };
    let routed: Value = serde_json::from_str(&route_change(&args).unwrap()).unwrap();
    assert_eq!((routed["fast_path"].as_bool(), routed["max_bha_agents"].as_u64()), (Some(true), Some(6)));
    assert!(intent("other").is_err());
}

// PR-20
#[test]
fn unreadable_findings_yield_no_verdict() {
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("validate_output.json");
    assert!(write_verdict(&input).is_err());
    for text in ["", "[]", "{\"validated\": 5}", "{}"] {
        std::fs::write(&input, text).unwrap();
        assert!(write_verdict(&input).is_err(), "{text}");
    }
    assert!(!dir.path().join("verdict.json").exists());
}
