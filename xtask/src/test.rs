//! Runs every check of the project and prints one line of counts.
//!
//! A check that cannot run counts as failed, with the reason. The checks after it still run, so that one run
//! reports every failure. The durations of the parts are kept for the last runs.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::count::Count;
use crate::run::{binary, cargo, command, junit, nextest, npm, run};
use crate::{contract_rows, install, openapi, prose, target, web};

/// Debian packages that tests need, each with a program that it contains. `faketime` contains the library
/// that changes the clock of programs under test.
const PACKAGES: [(&str, &str); 7] = [
    ("gh", "gh"),
    ("chromium", "chromium"),
    ("wrk", "wrk"),
    ("git", "git"),
    ("git-lfs", "git-lfs"),
    ("openssl", "openssl"),
    ("faketime", "faketime"),
];

/// Runs whose durations are kept.
const KEPT_RUNS: usize = 10;

/// Counts of passed and failed checks, with the reasons of failures.
#[derive(Default)]
struct Report {
    count: Count,
    problems: Vec<String>,
    /// Name and duration of each part, in their order.
    parts: Vec<(String, Duration)>,
}

impl Report {
    /// Prepares something that the checks need. Counts only if it fails, because it is no check.
    fn prepare(&mut self, name: &str, set_up: impl FnOnce() -> anyhow::Result<()>) {
        let started_at = Instant::now();
        eprintln!("== {name}");
        if let Err(error) = set_up() {
            self.count.add(Count::one(false));
            self.problem(format!("{name}: {error:#}"));
        }
        self.parts.push((name.to_owned(), started_at.elapsed()));
    }

    /// Runs a single check, which counts as one.
    fn check(&mut self, name: &str, check: impl FnOnce() -> anyhow::Result<()>) {
        let started_at = Instant::now();
        eprintln!("\n== {name}");
        let result = check();
        self.count.add(Count::one(result.is_ok()));
        if let Err(error) = &result {
            self.problem(format!("{name}: {error:#}"));
        }
        let took = started_at.elapsed();
        eprintln!("== {name}: {} in {:.1} s", outcome(result.is_ok()), took.as_secs_f32());
        self.parts.push((name.to_owned(), took));
    }

    /// Runs a test suite and adds the counts of its report.
    fn suite(
        &mut self,
        name: &str,
        report: &Path,
        suite: impl FnOnce() -> anyhow::Result<()>,
        read: impl FnOnce(&Path) -> anyhow::Result<Count>,
    ) {
        let started_at = Instant::now();
        eprintln!("\n== {name}");
        // A report of an earlier run must not be counted. An error is ignored: usually there is no report.
        let _ = std::fs::remove_file(report);
        let result = suite();
        let report_count = read(report);
        let mut count = report_count.as_ref().copied().unwrap_or_default();
        if let Err(error) = &report_count {
            self.problem(format!("{name}: {error:#}"));
        }
        if let Err(error) = &result {
            self.problem(format!("{name}: {error:#}"));
        }
        // A suite that fails without a failed test, for example at compilation, must not count as passed.
        if count.failed == 0 && (result.is_err() || report_count.is_err()) {
            count.failed = 1;
        }
        self.count.add(count);
        let (Count { passed, failed }, took) = (count, started_at.elapsed());
        eprintln!("== {name}: {passed} passed, {failed} failed in {:.1} s", took.as_secs_f32());
        self.parts.push((name.to_owned(), took));
    }

    /// Returns a table of the parts that took at least a second, and of the whole run.
    fn durations(&self) -> String {
        let total = self.parts.iter().map(|(_, took)| *took).sum();
        let listed = self.parts.iter().filter(|(_, took)| *took >= Duration::from_secs(1));
        let rows = listed.map(|(name, took)| (name.as_str(), *took)).chain([("total", total)]);
        rows.fold(String::new(), |mut table, (name, took)| {
            let _ = writeln!(table, "{:>7.1} s  {name}", took.as_secs_f32());
            table
        })
    }

    fn problem(&mut self, problem: String) {
        eprintln!("!! {problem}");
        self.problems.push(problem);
    }
}

/// Runs all checks. Prints the line of counts to standard output, everything else to standard error.
pub fn run_all() -> ExitCode {
    let mut report = Report::default();
    set_up(&mut report);
    rust(&mut report);
    web_app(&mut report);
    eprintln!();
    for problem in &report.problems {
        eprintln!("failed: {problem}");
    }
    let durations = report.durations();
    eprint!("\n{durations}");
    if let Err(error) = keep(&target().join("xtask/test-runs"), &durations) {
        eprintln!("the durations were not stored: {error:#}");
    }
    println!("{} passed, {} failed", report.count.passed, report.count.failed);
    if report.count.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Stores the durations of a run in a directory, and removes those of the oldest runs.
fn keep(runs: &Path, durations: &str) -> anyhow::Result<()> {
    std::fs::create_dir_all(runs)?;
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    std::fs::write(runs.join(format!("{seconds}.txt")), durations)?;
    let mut files: Vec<_> =
        std::fs::read_dir(runs)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    // The names are times with the same number of digits.
    files.sort_unstable();
    for old in files.iter().rev().skip(KEPT_RUNS) {
        std::fs::remove_file(old)?;
    }
    Ok(())
}

fn set_up(report: &mut Report) {
    report.prepare("install rustfmt and clippy", install::rust_components);
    report.prepare("install cargo-nextest", install::nextest);
    report.prepare("install the assistant and the reviewer", install::programs);
    for (package, program) in PACKAGES {
        report.prepare(&format!("install {package}"), || install::package(package, program));
    }
    report.prepare("start PostgreSQL", install::postgres);
}

fn rust(report: &mut Report) {
    report.check("build the web app", web::build_if_stale);
    report.check("prose", || prose::check(false));
    report.check("format", || run(cargo().args(["fmt", "--all", "--check"])));
    report.check("clippy", || {
        run(cargo().args(["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]))
    });
    // Includes the tests, so that features are unified and dependencies are built only once.
    report.check("build", || run(cargo().args(["build", "--quiet", "--workspace", "--all-targets"])));
    let junit = junit();
    report.suite("tests", &junit, || run(&mut nextest()), Count::of_junit);
    // The suite above runs these tests on SQLite.
    let on_postgres = || {
        let database = install::Database::create()?;
        let mut control_plane = nextest();
        control_plane.args(["--filterset", "package(loopgate-control-plane)"]);
        run(control_plane.env("LOOPGATE_TEST_POSTGRES", database.url()))
    };
    report.suite("control plane on PostgreSQL", &junit, on_postgres, Count::of_junit);
    report.check("trial of misbehaving programs", || {
        run(command(binary("trial")).arg("--quick").env("LOOPGATE_BIN", binary("loopgate")))
    });
    report.check("interface descriptions", openapi::check);
    report.check("cases and their tests", contract_rows::check);
}

fn web_app(report: &mut Report) {
    let folder = web::folder();
    report.prepare("install the web app's packages", web::packages);
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

const fn outcome(passed: bool) -> &'static str {
    if passed { "passed" } else { "failed" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_list_the_slow_parts_and_the_total() {
        let part = |name: &str, millis| (name.to_owned(), Duration::from_millis(millis));
        let report = Report { parts: vec![part("build", 61_500), part("format", 500)], ..Report::default() };
        assert_eq!(report.durations(), "   61.5 s  build\n   62.0 s  total\n");
    }

    #[test]
    fn durations_of_the_last_ten_runs_are_kept() {
        let runs = std::env::temp_dir().join(format!("loopgate-test-runs-{}", std::process::id()));
        std::fs::create_dir_all(&runs).unwrap();
        for n in 0..12 {
            std::fs::write(runs.join(format!("{}.txt", 1_000_000_000 + n)), "").unwrap();
        }
        keep(&runs, "new").unwrap();
        let count = std::fs::read_dir(&runs).unwrap().count();
        let oldest_is_kept = runs.join("1000000000.txt").exists();
        std::fs::remove_dir_all(&runs).unwrap();
        assert_eq!((count, oldest_is_kept), (KEPT_RUNS, false));
    }
}
