//! Every check of the project, one after the other, and one line of counts at the end.
//!
//! A check that cannot run counts as failed and says why. Later checks run all the same, so that
//! one run shows everything that is wrong.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use crate::count::Count;
use crate::run::{cargo, command, npm, run};
use crate::{contract_rows, install, openapi, root, target, web};

/// What went wrong so far, and how much went right.
#[derive(Default)]
struct Report {
    count: Count,
    problems: Vec<String>,
}

impl Report {
    /// Sets something up that the checks need. It counts only when it fails: it is no check.
    fn need(&mut self, name: &str, set_up: impl FnOnce() -> anyhow::Result<()>) {
        eprintln!("== {name}");
        if let Err(error) = set_up() {
            self.count.add(Count::one(false));
            self.problem(format!("{name}: {error:#}"));
        }
    }

    /// Runs one check.
    fn check(&mut self, name: &str, check: impl FnOnce() -> anyhow::Result<()>) {
        let begun = Instant::now();
        eprintln!("\n== {name}");
        let result = check();
        self.count.add(Count::one(result.is_ok()));
        if let Err(error) = &result {
            self.problem(format!("{name}: {error:#}"));
        }
        eprintln!("== {name}: {} in {:.1} s", word(result.is_ok()), begun.elapsed().as_secs_f32());
    }

    /// Runs a suite, whose report says how many of its tests passed.
    fn suite(
        &mut self,
        name: &str,
        report: &Path,
        suite: impl FnOnce() -> anyhow::Result<()>,
        read: impl FnOnce(&Path) -> anyhow::Result<Count>,
    ) {
        let begun = Instant::now();
        eprintln!("\n== {name}");
        // An old report must not pass for this run's.
        let _ = std::fs::remove_file(report);
        let result = suite();
        let counted = read(report);
        let mut count = counted.as_ref().copied().unwrap_or_default();
        if let Err(error) = &counted {
            self.problem(format!("{name}: {error:#}"));
        }
        if let Err(error) = &result {
            self.problem(format!("{name}: {error:#}"));
        }
        if count.failed == 0 && (result.is_err() || counted.is_err()) {
            count.failed = 1;
        }
        self.count.add(count);
        let Count { passed, failed } = count;
        eprintln!("== {name}: {passed} passed, {failed} failed in {:.1} s", begun.elapsed().as_secs_f32());
    }

    fn problem(&mut self, problem: String) {
        eprintln!("!! {problem}");
        self.problems.push(problem);
    }
}

/// Installs, checks, counts; prints the one line of counts to standard output.
pub fn run_all() -> ExitCode {
    let mut report = Report::default();
    let services = set_up(&mut report);
    rust(&mut report);
    web_app(&mut report);
    drop(services);
    eprintln!();
    for problem in &report.problems {
        eprintln!("failed: {problem}");
    }
    println!("{} passed, {} failed", report.count.passed, report.count.failed);
    if report.count.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn set_up(report: &mut Report) -> Option<install::Service> {
    report.need("install rustfmt and clippy", install::rust_components);
    report.need("install cargo-nextest", install::nextest);
    report.need("install the assistant and the reviewer", install::programs);
    for (package, program) in [("gh", "gh"), ("chromium", "chromium"), ("wrk", "wrk"), ("git", "git")] {
        report.need(&format!("install {package}"), || install::package(package, program));
    }
    report.need("start PostgreSQL", install::postgres);
    let mut nats = None;
    report.need("start NATS", || {
        nats = install::nats()?;
        Ok(())
    });
    nats
}

fn rust(report: &mut Report) {
    report.check("build the web app", web::build_if_stale);
    report.check("format", || run(cargo().args(["fmt", "--all", "--check"])));
    report.check("clippy", || {
        run(cargo().args(["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]))
    });
    // With the tests, so that dependencies get one set of features and are built once.
    report.check("build", || run(cargo().args(["build", "--quiet", "--workspace", "--all-targets"])));
    // Nextest keeps its reports below the clone, wherever cargo builds.
    let junit = root().join("target/nextest/ci/junit.xml");
    let nextest = || {
        let mut nextest = cargo();
        nextest.args(["nextest", "run", "--workspace", "--profile", "ci", "--no-fail-fast"]);
        nextest.env("LOOPGATE_BIN", binary("loopgate"));
        nextest
    };
    report.suite("tests", &junit, || run(&mut nextest()), Count::of_junit);
    // They run on SQLite first, with all others.
    let on_postgres = || {
        let database = install::Database::create()?;
        let mut control_plane = nextest();
        control_plane.args(["--filterset", "package(loopgate-control-plane)"]);
        run(control_plane.env("LOOPGATE_TEST_POSTGRES", database.url()))
    };
    report.suite("control plane on PostgreSQL", &junit, on_postgres, Count::of_junit);
    report.check("trial of others' misbehaviour", || {
        run(command(binary("trial")).arg("--quick").env("LOOPGATE_BIN", binary("loopgate")))
    });
    report.check("interface descriptions", openapi::check);
    report.need("rows of the contract that no test names", contract_rows::report);
}

fn web_app(report: &mut Report) {
    let folder = web::folder();
    report.need("install the web app's packages", web::packages);
    report.check("web checks", || run(npm(&folder).args(["run", "--silent", "check"])));
    let results = target().join("xtask");
    let vitest = results.join("vitest.json");
    let unit = || {
        let output = format!("--outputFile.json={}", vitest.display());
        run(npm(&folder).args(["test", "--silent", "--", "--reporter=default", "--reporter=json", &output]))
    };
    report.suite("web unit tests", &vitest, unit, Count::of_vitest);
    let playwright = results.join("playwright.json");
    let browser = || {
        let mut browser = npm(&folder);
        browser.args(["run", "--silent", "e2e", "--", "--reporter=list,json"]);
        browser.env("PLAYWRIGHT_JSON_OUTPUT_NAME", &playwright);
        browser.env("PLAYWRIGHT_JSON_OUTPUT_FILE", &playwright);
        browser.env("LOOPGATE_BIN", binary("loopgate")).env("LOOPGATE_DEMO_BIN", binary("demo"));
        run(&mut browser)
    };
    report.suite("browser tests", &playwright, browser, Count::of_playwright);
}

fn binary(name: &str) -> PathBuf {
    let path = target().join("debug").join(name);
    if path.is_absolute() { path } else { root().join(path) }
}

const fn word(passed: bool) -> &'static str {
    if passed { "passed" } else { "failed" }
}
