//! `loopgate perf …`: summarizes the timing events of a loop, and records the events of prompts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use loopgate_api::names::{PERF_JSONL, STATE_JSON};
use loopgate_api::redact;
use loopgate_home::untrusted;
use serde_json::{Map, Value, json};

use crate::console::{print_error, print_line};
use crate::perf::Perf;
use crate::plan;
use crate::project_git::BlockingGit;
use crate::variables as var;

/// Upper bound of a timing event file in bytes.
const MAX_EVENTS: u64 = 256 * 1024 * 1024;

/// Timing events of a loop.
#[derive(Debug, clap::Subcommand)]
pub enum PerfCommand {
    /// Summarize the timing events of a work directory
    Summary(SummaryArgs),
    /// Record the start of the phase in state.json
    Phase(RecordArgs),
    /// Record the start of the run, if the newer format is enabled (LOOPGATE_PERF_V2=1)
    Run(RecordArgs),
}

/// Arguments of `perf phase` and `perf run`. Run id, iteration and command come from the environment.
#[derive(Debug, clap::Args)]
pub struct RecordArgs {
    /// Work directory of the loop
    #[arg(long, env = "LOOPGATE_WORKDIR")]
    workdir: PathBuf,
}

/// Arguments of `perf summary`.
#[derive(Debug, clap::Args)]
pub struct SummaryArgs {
    /// Work directory of the loop
    #[arg(long)]
    workdir: PathBuf,
    /// Include only the events of this run
    #[arg(long)]
    run_id: Option<String>,
    /// Output format of the summary
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Print the phases in chronological order instead of sums
    #[arg(long)]
    timeline: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

impl PerfCommand {
    /// Runs the command. The exit code is always 0, because no step of a loop depends on timing events.
    #[must_use]
    pub fn run(self) -> ExitCode {
        match self {
            Self::Summary(args) => args.print(),
            Self::Phase(args) => {
                let state: Option<Map<String, Value>> = untrusted::read_json(&args.workdir.join(STATE_JSON));
                if !state.is_some_and(|state| plan::record_phase(&args.workdir, &state)) {
                    print_error(format!("No phase in {}", args.workdir.join(STATE_JSON).display()));
                }
            }
            Self::Run(args) => record_run(&args.workdir),
        }
        ExitCode::SUCCESS
    }
}

/// Records the start of a run unless it is recorded already.
fn record_run(workdir: &Path) {
    let perf = Perf::of_environment(workdir);
    let run_id = var::text(var::RUN_ID);
    let is_recorded = || events(workdir, run_id.as_deref()).iter().any(|event| event["event"] == "run");
    // The driver records the run itself; prompts call this command again in every iteration.
    if !perf.wants_run() || is_recorded() {
        return;
    }
    let project = std::env::current_dir().unwrap_or_default();
    let Ok(git) = BlockingGit::new() else { return };
    let (repo, branch) = (git.base_url(&project), git.branch(&project));
    perf.run(&redact::credentials(&repo.unwrap_or_default()), &branch.unwrap_or_default());
}

impl SummaryArgs {
    fn print(self) {
        let args = self;
        let events = events(&args.workdir, args.run_id.as_deref());
        if events.is_empty() {
            print_error(format!("No timing events in {}", args.workdir.join(PERF_JSONL).display()));
            return;
        }
        let summary = if args.timeline { json!({"timeline": timeline(&events)}) } else { summary(&events) };
        match args.format {
            Format::Json => print_line(summary),
            Format::Text => print_line(text(&summary).trim_end()),
        }
    }
}

/// Reads the well-formed events, oldest first.
fn events(workdir: &Path, run_id: Option<&str>) -> Vec<Value> {
    let lines = untrusted::read(&workdir.join(PERF_JSONL), MAX_EVENTS).unwrap_or_default();
    let lines = String::from_utf8_lossy(&lines);
    let events = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events.filter(|event| event.is_object() && run_id.is_none_or(|id| event["run_id"] == id)).collect()
}

/// Durations of the events with one name.
#[derive(Debug, Clone, Default)]
struct Spans {
    name: String,
    seconds: Vec<f64>,
}

impl Spans {
    fn total(&self) -> f64 {
        self.seconds.iter().sum()
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of events are small")]
    fn row(&self) -> Value {
        let count = self.seconds.len();
        let min = self.seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let max = self.seconds.iter().copied().fold(0.0, f64::max);
        json!({
            "name": self.name, "count": count,
            "avg_s": tenth(self.total() / count.max(1) as f64), "min_s": tenth(min), "max_s": tenth(max),
            "total_s": tenth(self.total()),
        })
    }
}

fn tenth(seconds: f64) -> f64 {
    (seconds * 10.0).round() / 10.0
}

fn summary(events: &[Value]) -> Value {
    let is_substep = |event: &Value| event.get("sub_step").is_some() || event["event"] == "pipeline_substep";
    let steps = |event: &&Value| event["event"] == "pipeline_step" && !is_substep(event);
    let phases: Vec<Value> = timeline(events);
    json!({
        "iterations": iterations(events),
        "phases": grouped(phases.iter(), |phase| text_of(phase, "phase")),
        "pipeline_steps": grouped(events.iter().filter(steps), |event| text_of(event, "step_name")),
        "pipeline_substeps": substeps(events.iter().filter(|event| is_substep(event))),
        "agents": grouped(events.iter().filter(|event| event["event"] == "agent"), |event| text_of(event, "agent_name")),
    })
}

fn text_of(event: &Value, name: &str) -> String {
    event.get(name).and_then(Value::as_str).unwrap_or("unknown").to_owned()
}

fn seconds(event: &Value) -> Option<f64> {
    event.get("duration_s").and_then(Value::as_f64)
}

/// Returns one row per name, sorted by descending total time.
fn grouped<'a>(events: impl Iterator<Item = &'a Value>, name: impl Fn(&Value) -> String) -> Vec<Value> {
    let mut groups: BTreeMap<String, Spans> = BTreeMap::new();
    for event in events {
        let name = name(event);
        let spans = groups.entry(name.clone()).or_insert_with(|| Spans { name, seconds: Vec::new() });
        spans.seconds.extend(seconds(event));
    }
    let mut groups: Vec<Spans> = groups.into_values().filter(|spans| !spans.seconds.is_empty()).collect();
    groups.sort_by(|a, b| b.total().total_cmp(&a.total()));
    groups.iter().map(Spans::row).collect()
}

/// Returns the rows of the sub-steps, sorted by the name of their step and their number.
fn substeps<'a>(events: impl Iterator<Item = &'a Value>) -> Vec<Value> {
    let key = |event: &Value| {
        let step = event.get("step_name").or_else(|| event.get("parent_step_name")).and_then(Value::as_str);
        let number = event.get("sub_step").and_then(Value::as_f64).unwrap_or(0.0);
        (step.unwrap_or("unknown").to_owned(), number, text_of(event, "sub_step_name"))
    };
    let mut events: Vec<&Value> = events.collect();
    events.sort_by(|a, b| {
        let (a, b) = (key(a), key(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))
    });
    let mut rows = Vec::new();
    for group in events.chunk_by(|a, b| key(a) == key(b)) {
        let (step, number, name) = key(group[0]);
        let spans = Spans { name, seconds: group.iter().filter_map(|event| seconds(event)).collect() };
        let mut row = spans.row();
        row["step_name"] = step.into();
        row["sub_step"] = json!(number);
        rows.push(row);
    }
    rows
}

/// Returns the iterations by number, followed by a summary row.
fn iterations(events: &[Value]) -> Vec<Value> {
    let mut iterations: Vec<&Value> = events.iter().filter(|event| event["event"] == "iteration").collect();
    iterations.sort_by_key(|event| event["iteration"].as_u64());
    let rows = iterations.iter().map(|event| {
        json!({"iteration": event["iteration"], "status": event["status"], "duration_s": event["duration_s"]})
    });
    let all =
        Spans { name: "summary".to_owned(), seconds: iterations.iter().filter_map(|e| seconds(e)).collect() };
    let all = (!all.seconds.is_empty()).then(|| all.row());
    rows.chain(all).collect()
}

/// Returns the phases in order. A phase ends at the start of the next one in its iteration, the last one with
/// the iteration.
fn timeline(events: &[Value]) -> Vec<Value> {
    let of = |event: &Value| (event["run_id"].clone(), event["iteration"].clone());
    let phases: Vec<&Value> = events.iter().filter(|event| event["event"] == "phase").collect();
    let mut rows = Vec::new();
    for (at, phase) in phases.iter().enumerate() {
        let next = phases[at + 1..].iter().find(|next| of(next) == of(phase)).map(|next| &next["started_at"]);
        let end = next.or_else(|| {
            let iteration =
                events.iter().find(|event| event["event"] == "iteration" && of(event) == of(phase));
            iteration.map(|iteration| &iteration["ended_at"])
        });
        let span = end.and_then(|end| Some((instant(end)? - instant(&phase["started_at"])?) as f64));
        // A negative duration means that the clock was set back; the phase is omitted.
        if span.is_some_and(|seconds| seconds < 0.0) {
            continue;
        }
        rows.push(json!({
            "run_id": phase["run_id"], "iteration": phase["iteration"], "phase": phase["phase"],
            "status": phase["status"], "started_at": phase["started_at"],
            "ended_at": end.cloned().unwrap_or_else(|| "".into()), "duration_s": span,
        }));
    }
    rows
}

fn instant(value: &Value) -> Option<i64> {
    Some(value.as_str()?.parse::<jiff::Timestamp>().ok()?.as_second())
}

/// Formats one table per key.
fn text(summary: &Value) -> String {
    let mut out = String::new();
    for (key, rows) in summary.as_object().into_iter().flatten() {
        let rows = rows.as_array().map(Vec::as_slice).unwrap_or_default();
        if rows.is_empty() {
            continue;
        }
        let _ = writeln!(out, "{key}");
        for row in rows {
            let cells = row.as_object().into_iter().flatten().map(|(name, value)| match value {
                Value::String(text) => format!("{name}={text}"),
                other => format!("{name}={other}"),
            });
            let _ = writeln!(out, "  {}", cells.collect::<Vec<_>>().join("  "));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<Value> {
        let phase = |name: &str, at: &str| json!({"event": "phase", "run_id": "r", "iteration": 1, "phase": name, "status": "IN_PROGRESS", "started_at": at});
        vec![
            phase("one", "2026-01-01T00:00:00Z"),
            phase("two", "2026-01-01T00:00:10Z"),
            json!({"event": "iteration", "run_id": "r", "iteration": 1, "status": "ok", "duration_s": 25,
                   "ended_at": "2026-01-01T00:00:25Z"}),
            json!({"event": "pipeline_step", "run_id": "r", "step": 1, "step_name": "changed_files", "duration_s": 2}),
            json!({"event": "pipeline_step", "run_id": "r", "step": 1, "step_name": "changed_files", "duration_s": 1}),
            json!({"event": "pipeline_step", "run_id": "r", "step_name": "judges", "sub_step": 2, "sub_step_name": "b", "duration_s": 3}),
            json!({"event": "agent", "run_id": "r", "agent_name": "plan-writer", "duration_s": 9}),
        ]
    }

    #[test]
    fn events_are_summed_per_kind() {
        let summary = summary(&sample());
        assert_eq!(summary["iterations"][1]["name"], "summary");
        assert_eq!(
            summary["phases"][0],
            json!({"name": "two", "count": 1, "avg_s": 15.0, "min_s": 15.0, "max_s": 15.0, "total_s": 15.0})
        );
        let steps = summary["pipeline_steps"].as_array().unwrap();
        assert_eq!((steps.len(), &steps[0]["avg_s"]), (1, &json!(1.5)));
        assert_eq!(summary["pipeline_substeps"][0]["step_name"], "judges");
        assert_eq!(summary["agents"][0]["total_s"], 9.0);
    }

    #[test]
    fn phase_without_a_successor_has_no_end() {
        let mut events = sample();
        events.retain(|event| event["event"] != "iteration");
        let rows = timeline(&events);
        assert_eq!((&rows[1]["ended_at"], &rows[1]["duration_s"]), (&json!(""), &Value::Null));
        assert!(text(&json!({"timeline": rows})).contains("phase=two"));
    }

    #[test]
    fn malformed_lines_and_other_runs_are_excluded() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(PERF_JSONL), "{\n{\"event\":\"iteration\",\"run_id\":\"a\"}\n[]\n")
            .unwrap();
        assert_eq!(events(dir.path(), None).len(), 1);
        assert!(events(dir.path(), Some("b")).is_empty());
    }
}
