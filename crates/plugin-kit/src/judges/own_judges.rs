//! Judges of a project: one Markdown file each in `.loopgate/judges`, with a front matter that names the judge, the kinds
//! of objects that it evaluates and its metrics, and a rubric below it.

use std::collections::BTreeSet;

use clap::ValueEnum as _;
use loopgate_api::names::{PLAN_MD, PRD_MD};

use super::evaluation::INVESTIGATION_LOG;
use super::project::JudgedProject;
use super::{Category, Judge, JudgeModel, ScoringFamily, table};

/// Directory of the files, below the project's directory of Loopgate.
const DIRECTORY: &str = "judges";
/// Documents of a run whose work directory is the default, which is this directory.
const DOCUMENTS: [&str; 4] = [PRD_MD, PLAN_MD, "feature.md", INVESTIGATION_LOG];
/// Maximum number of files. Each judge is a call of the assistant in each run.
const MAX_JUDGES: usize = 20;
/// Maximum number of metrics of a judge.
const MAX_METRICS: usize = 8;
/// Maximum number of characters of a rubric.
const MAX_RUBRIC: usize = 8_000;
/// Family of these judges: they report faults as `blocking`, `major` or `minor`, also with several metrics.
const FAMILY: ScoringFamily = ScoringFamily::Requirements { major: 15 };
/// Metric in the report of a judge whose file is not valid.
const INVALID: &[(&str, f64)] = &[("error", 0.8)];

/// A judge of the project.
#[derive(Debug)]
pub struct OwnJudge {
    pub judge: &'static Judge,
    /// The rubric, or the reason for which the file is not valid.
    pub rubric: Result<String, String>,
}

/// Reads the judges of a project that evaluate this kind of object, and those whose files are not valid. Adds warnings
/// about files that are ignored. The judges live as long as the process, which runs them once.
pub fn load(project: &JudgedProject, category: Category, warnings: &mut Vec<String>) -> Vec<OwnJudge> {
    let mut names = project.setting_names(DIRECTORY, &DOCUMENTS, warnings);
    if names.len() > MAX_JUDGES {
        let ignored = names.split_off(MAX_JUDGES);
        warnings
            .push(format!("More than {MAX_JUDGES} judges of the project; ignored: {}", ignored.join(", ")));
    }
    let mut known: BTreeSet<&str> = table::JUDGES.iter().map(|judge| judge.name).collect();
    let mut judges = Vec::new();
    for file in names {
        let text = project.setting(&format!("{DIRECTORY}/{file}"), warnings);
        let parsed = match text {
            Ok(Some(text)) => parse(&text, file.trim_end_matches(".md")),
            Ok(None) => Err("the file cannot be read".to_owned()),
            Err(fault) => Err(fault),
        };
        let checked = parsed.and_then(|(judge, rubric)| match known.insert(judge.name) {
            true => Ok((judge, rubric)),
            false => Err(format!("another judge has the name {}", judge.name)),
        });
        judges.push(match checked {
            Ok((judge, rubric)) => OwnJudge { judge, rubric: Ok(rubric) },
            Err(fault) => {
                let fault = format!(".loopgate/{DIRECTORY}/{file}: {fault}");
                let all = Category::value_variants();
                let judge = new_judge(file.trim_end_matches(".md"), all, JudgeModel::Sonnet, INVALID);
                OwnJudge { judge, rubric: Err(fault) }
            }
        });
    }
    judges.retain(|own| own.judge.categories.contains(&category));
    judges
}

/// Creates a judge for the rest of the process, as those of the table are.
fn new_judge(
    name: &str,
    categories: &[Category],
    model: JudgeModel,
    metrics: &[(&'static str, f64)],
) -> &'static Judge {
    Box::leak(Box::new(Judge {
        name: name.to_owned().leak(),
        categories: categories.to_vec().leak(),
        model,
        family: FAMILY,
        metrics: metrics.to_vec().leak(),
    }))
}

/// Parses a file. `stem`: name of the file without its extension, which must be that of the judge.
fn parse(text: &str, stem: &str) -> Result<(&'static Judge, String), String> {
    let text = text.replace("\r\n", "\n");
    let (front, rubric) = text
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---"))
        .ok_or("the file must begin with a front matter between two lines of ---")?;
    let (mut name, mut applies, mut model, mut metrics) = (None, None, None, None);
    for line in front.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (key, value) = line.split_once(':').ok_or_else(|| format!("{line:?} is no line `key: value`"))?;
        let member = match key.trim() {
            "name" => &mut name,
            "applies" => &mut applies,
            "model" => &mut model,
            "metrics" => &mut metrics,
            other => return Err(format!("unknown key {other:?}; expected name, applies, model or metrics")),
        };
        if member.replace(value.trim()).is_some() {
            return Err(format!("{} occurs twice", key.trim()));
        }
    }
    let name = name.ok_or("there is no line `name: …`")?;
    if name != stem || !is_name(name, '-') {
        return Err(format!(
            "the name {name:?} must be the file's name without .md, of small letters, digits and -"
        ));
    }
    let applies = applies.ok_or("there is no line `applies: …` that says when the judge is asked")?;
    let categories = items(applies).map(category).collect::<Result<Vec<_>, _>>()?;
    let metrics = items(metrics.ok_or("there is no line `metrics: …`")?).map(metric);
    let metrics = metrics.collect::<Result<Vec<_>, _>>()?;
    if categories.is_empty() || metrics.is_empty() {
        return Err("applies and metrics must not be empty".to_owned());
    }
    let distinct: BTreeSet<&str> = metrics.iter().map(|(name, _)| *name).collect();
    if distinct.len() < metrics.len() || metrics.len() > MAX_METRICS {
        return Err(format!("metrics must be at most {MAX_METRICS} with different names"));
    }
    let model = match model.unwrap_or("sonnet") {
        "haiku" => JudgeModel::Haiku,
        "sonnet" => JudgeModel::Sonnet,
        "opus" => JudgeModel::Opus,
        other => return Err(format!("unknown model {other:?}; expected haiku, sonnet or opus")),
    };
    let rubric = rubric.trim_start_matches('-').trim();
    if rubric.is_empty() || rubric.chars().count() > MAX_RUBRIC {
        return Err(format!("below the front matter must be a rubric of at most {MAX_RUBRIC} characters"));
    }
    Ok((new_judge(name, &categories, model, &metrics), rubric.to_owned()))
}

/// Returns the items of a list, with or without brackets.
fn items(list: &str) -> impl Iterator<Item = &str> {
    let list = list.strip_prefix('[').and_then(|list| list.strip_suffix(']')).unwrap_or(list);
    list.split(',').map(str::trim).filter(|item| !item.is_empty())
}

fn category(name: &str) -> Result<Category, String> {
    let known = Category::value_variants().iter().find(|category| category.name() == name);
    known.copied().ok_or_else(|| format!("unknown category {name:?}; expected plan, code, prd or feature"))
}

/// Parses a metric and its threshold, such as `totals_are_exact 0.8`.
fn metric(item: &str) -> Result<(&'static str, f64), String> {
    let (name, threshold) = item.rsplit_once(' ').unwrap_or((item, ""));
    let name = name.trim();
    let threshold = threshold.parse().ok().filter(|value| (0.0..=1.0).contains(value));
    match threshold {
        Some(threshold) if is_name(name, '_') => Ok((name.to_owned().leak(), threshold)),
        _ => {
            Err(format!("{item:?} is no metric with a threshold from 0 to 1, such as `totals_are_exact 0.8`"))
        }
    }
}

fn is_name(name: &str, separator: char) -> bool {
    let is_letter =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == separator;
    name.starts_with(|letter: char| letter.is_ascii_lowercase()) && name.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "---\nname: money\napplies: plan, code\nmodel: haiku\nmetrics: totals_are_exact 0.8, \
        currencies_are_named 0.7\n---\nLook at amounts.\n\n---\nMore.\n";

    #[test]
    fn file_defines_a_judge() {
        let (judge, rubric) = parse(FILE, "money").unwrap();
        assert_eq!((judge.name, judge.model), ("money", JudgeModel::Haiku));
        assert_eq!(judge.categories, [Category::Plan, Category::Code]);
        assert_eq!(judge.metrics, [("totals_are_exact", 0.8), ("currencies_are_named", 0.7)]);
        assert_eq!(rubric, "Look at amounts.\n\n---\nMore.");
        let (judge, _) = parse("---\nname: a\napplies: [prd]\nmetrics: [m 1]\n---\nText", "a").unwrap();
        assert_eq!((judge.model, judge.categories), (JudgeModel::Sonnet, &[Category::Prd][..]));
    }

    #[test]
    fn fault_of_a_file_is_named() {
        for (from, to, fault) in [
            ("---\nname", "name", "must begin with a front matter"),
            ("name: money", "name: Money", "must be the file's name"),
            ("applies: plan, code\n", "", "no line `applies: …`"),
            ("plan, code", "plans", "unknown category \"plans\""),
            ("model: haiku", "model: best", "unknown model \"best\""),
            ("model: haiku", "tools: Bash", "unknown key \"tools\""),
            ("model: haiku", "name: money", "name occurs twice"),
            ("totals_are_exact 0.8", "totals_are_exact", "is no metric with a threshold"),
            ("totals_are_exact 0.8", "totals_are_exact 8", "is no metric with a threshold"),
            ("currencies_are_named", "totals_are_exact", "with different names"),
            ("Look at amounts.\n\n---\nMore.\n", "\n", "must be a rubric"),
        ] {
            let error = parse(&FILE.replacen(from, to, 1), "money").unwrap_err();
            assert!(error.contains(fault), "{error}");
        }
    }
}
