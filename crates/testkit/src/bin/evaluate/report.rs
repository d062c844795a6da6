//! Results of an evaluation: stored as JSON, printed as a table, and compared with earlier results.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::measure::Figures;

/// Results of one evaluation.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvaluationResults {
    /// Version of Loopgate, from Cargo.toml.
    version: String,
    /// Hash of the plugin's files, truncated to 12 hexadecimal digits.
    prompts: String,
    assistant_version: String,
    tasks: Vec<TaskReport>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskReport {
    name: String,
    seconds: u64,
    #[serde(flatten)]
    figures: Figures,
}

/// Totals over several tasks.
struct Totals {
    tasks: usize,
    completed: usize,
    fulfilled: usize,
    tests_pass: usize,
    weakened: usize,
    drift: usize,
    iterations: usize,
    usd: f64,
}

impl EvaluationResults {
    /// Creates an empty report for the prompts of a plugin.
    pub fn new(plugin: &Path, assistant_version: String) -> anyhow::Result<Self> {
        let mut hash = Sha256::new();
        hash_files(plugin, &mut hash).with_context(|| format!("read {}", plugin.display()))?;
        let mut prompts = hex::encode(hash.finalize());
        prompts.truncate(12);
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Self { version, prompts, assistant_version, tasks: Vec::new() })
    }

    /// Adds the results of a task.
    pub fn add(&mut self, name: &str, figures: Figures, time: Duration) {
        self.tasks.push(TaskReport { name: name.to_owned(), seconds: time.as_secs(), figures });
    }

    /// Reads the report of an earlier evaluation.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        serde_json::from_str(&text)
            .with_context(|| format!("{} is not a report of an evaluation", path.display()))
    }

    /// Writes the report as JSON.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        std::fs::write(path, format!("{text}\n")).with_context(|| format!("write {}", path.display()))
    }

    /// Describes the differences from an earlier evaluation: per task, and as totals over the tasks in both.
    pub fn compared_with(&self, earlier: &Self) -> String {
        let pairs: Vec<(&TaskReport, &TaskReport)> = self
            .tasks
            .iter()
            .filter_map(|now| Some((earlier.tasks.iter().find(|before| before.name == now.name)?, now)))
            .collect();
        let mut text = format!("Compared with prompts {} ({} tasks in both)\n", earlier.prompts, pairs.len());
        for (before, now) in &pairs {
            let changes = now.figures.changes_from(&before.figures);
            if !changes.is_empty() {
                text.push_str(&format!("{:<28} {}\n", now.name, changes.join(", ")));
            }
        }
        let before = Totals::of(pairs.iter().map(|(before, _)| *before));
        let now = Totals::of(pairs.iter().map(|(_, now)| *now));
        text.push_str(&format!("{:<28} {before}\n{:<28} {now}", "before", "now"));
        text
    }
}

impl Figures {
    fn changes_from(&self, before: &Self) -> Vec<String> {
        let flags = [
            ("completed", before.completed, self.completed),
            ("fulfilled", before.fulfilled, self.fulfilled),
            ("tests pass", before.tests_pass, self.tests_pass),
            ("tests weakened", before.tests_weakened, self.tests_weakened),
        ];
        let flags = flags.into_iter().filter(|(_, before, now)| before != now);
        let flags =
            flags.map(|(name, before, now)| format!("{name}: {} → {}", yes_or_no(before), yes_or_no(now)));
        let drift = (before.drift != self.drift)
            .then(|| format!("drift: {} → {}", before.drift.len(), self.drift.len()));
        flags.chain(drift).collect()
    }
}

impl Totals {
    fn of<'a>(tasks: impl Iterator<Item = &'a TaskReport>) -> Self {
        let mut totals = Self {
            tasks: 0,
            completed: 0,
            fulfilled: 0,
            tests_pass: 0,
            weakened: 0,
            drift: 0,
            iterations: 0,
            usd: 0.0,
        };
        for TaskReport { figures, .. } in tasks {
            totals.tasks += 1;
            totals.completed += usize::from(figures.completed);
            totals.fulfilled += usize::from(figures.fulfilled);
            totals.tests_pass += usize::from(figures.tests_pass);
            totals.weakened += usize::from(figures.tests_weakened);
            totals.drift += figures.drift.len();
            totals.iterations += figures.iterations;
            totals.usd += figures.cost_usd;
        }
        totals
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tasks, completed, fulfilled, tests_pass, weakened, drift, iterations, usd } = self;
        write!(
            f,
            "{completed} of {tasks} completed, {fulfilled} fulfilled, tests pass in {tests_pass} and are weakened in \
             {weakened}, {drift} unrelated files, {iterations} iterations, ${usd:.2}"
        )
    }
}

impl fmt::Display for EvaluationResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Loopgate {}, prompts {}, {}", self.version, self.prompts, self.assistant_version)?;
        let columns =
            ["task", "completed", "fulfilled", "tests", "weakened", "drift", "iterations", "cost", "time"];
        let [task, others @ ..] = columns;
        write!(f, "{task:<28}")?;
        others.iter().try_for_each(|column| write!(f, "{column:>11}"))?;
        writeln!(f)?;
        for TaskReport { name, seconds, figures } in &self.tasks {
            let cells = [
                yes_or_no(figures.completed).to_owned(),
                yes_or_no(figures.fulfilled).to_owned(),
                if figures.tests_pass { "pass" } else { "fail" }.to_owned(),
                yes_or_no(figures.tests_weakened).to_owned(),
                figures.drift.len().to_string(),
                figures.iterations.to_string(),
                format!("${:.2}", figures.cost_usd),
                format!("{} min", seconds.div_ceil(60)),
            ];
            write!(f, "{name:<28}")?;
            cells.iter().try_for_each(|cell| write!(f, "{cell:>11}"))?;
            writeln!(f)?;
            for path in &figures.drift {
                writeln!(f, "    unrelated change: {path}")?;
            }
        }
        write!(f, "{}", Totals::of(self.tasks.iter()))
    }
}

const fn yes_or_no(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}

fn hash_files(dir: &Path, hash: &mut Sha256) -> std::io::Result<()> {
    let mut paths: Vec<_> =
        std::fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    // The order of directory entries is unspecified, but the hash must be reproducible.
    paths.sort();
    for path in paths {
        if path.is_dir() {
            hash_files(&path, hash)?;
        } else {
            hash.update(path.file_name().unwrap_or_default().as_encoded_bytes());
            hash.update(std::fs::read(&path)?);
        }
    }
    Ok(())
}
