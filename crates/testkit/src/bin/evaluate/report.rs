//! The figures of an evaluation: as a file, as a table, and held against those of an earlier one.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::measure::Figures;

/// An evaluation.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Version of Loopgate.
    version: String,
    /// Hash of the plugin's files.
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

/// Sums of an evaluation.
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

impl Report {
    /// An empty one.
    ///
    /// # Errors
    /// When the plugin cannot be read.
    pub fn new(plugin: &Path, assistant_version: String) -> anyhow::Result<Self> {
        let mut hash = Sha256::new();
        hash_files(plugin, &mut hash).with_context(|| format!("read {}", plugin.display()))?;
        let mut prompts = hex::encode(hash.finalize());
        prompts.truncate(12);
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Self { version, prompts, assistant_version, tasks: Vec::new() })
    }

    /// Adds a task.
    pub fn add(&mut self, name: &str, figures: Figures, time: Duration) {
        self.tasks.push(TaskReport { name: name.to_owned(), seconds: time.as_secs(), figures });
    }

    /// Reads the file of an earlier evaluation.
    ///
    /// # Errors
    /// When there is none, or it is none of an evaluation.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is no file of an evaluation", path.display()))
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        std::fs::write(path, format!("{text}\n")).with_context(|| format!("write {}", path.display()))
    }

    /// What differs from an earlier evaluation, task by task, and the sums of the tasks that both have.
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
        let flags = flags.map(|(name, before, now)| format!("{name}: {} → {}", word(before), word(now)));
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
             {weakened}, {drift} files of other things, {iterations} iterations, ${usd:.2}"
        )
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Loopgate {}, prompts {}, {}", self.version, self.prompts, self.assistant_version)?;
        let heads =
            ["task", "completed", "fulfilled", "tests", "weakened", "drift", "iterations", "cost", "time"];
        let [task, rest @ ..] = heads;
        write!(f, "{task:<28}")?;
        rest.iter().try_for_each(|head| write!(f, "{head:>11}"))?;
        writeln!(f)?;
        for TaskReport { name, seconds, figures } in &self.tasks {
            let cells = [
                word(figures.completed).to_owned(),
                word(figures.fulfilled).to_owned(),
                if figures.tests_pass { "pass" } else { "fail" }.to_owned(),
                word(figures.tests_weakened).to_owned(),
                figures.drift.len().to_string(),
                figures.iterations.to_string(),
                format!("${:.2}", figures.cost_usd),
                format!("{} min", seconds.div_ceil(60)),
            ];
            write!(f, "{name:<28}")?;
            cells.iter().try_for_each(|cell| write!(f, "{cell:>11}"))?;
            writeln!(f)?;
            for path in &figures.drift {
                writeln!(f, "    changed without need: {path}")?;
            }
        }
        write!(f, "{}", Totals::of(self.tasks.iter()))
    }
}

const fn word(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}

fn hash_files(dir: &Path, hash: &mut Sha256) -> std::io::Result<()> {
    let mut paths: Vec<_> =
        std::fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
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
