//! Thresholds of metrics: those of the table, unless `threshold-overrides.json` has others for a judge.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use clap::ValueEnum as _;
use loopgate_api::names::STATE_DIR;
use loopgate_home::untrusted;
use serde::Deserialize;
use serde_json::Value;

use super::project::JudgedProject;
use super::{Category, Judge, table};

/// Path of the file in a work directory and in a project.
const OVERRIDES: &str = "settings/threshold-overrides.json";

/// Overrides that apply without a file.
const BUILT_IN: [(Category, &str, f64); 1] = [(Category::Code, "test-judge", 0.75)];

/// Thresholds of a run.
#[derive(Debug, Default)]
pub struct ScoreThresholds {
    /// By the key in the file, such as `code:test-judge`.
    overrides: BTreeMap<String, f64>,
}

/// `threshold-overrides.json`. The values are checked one by one, so that a wrong one does not disable the others.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OverridesDocument {
    overrides: BTreeMap<String, Value>,
}

impl ScoreThresholds {
    /// Reads the overrides of the work directory, then those of the project. For a judge in both files, the work
    /// directory takes precedence; one in the working tree of the project has no overrides, because the author of a change
    /// can write there. Returns warnings about what was ignored; a missing file is none.
    pub fn load(workdir: &Path, project: &JudgedProject) -> (Self, Vec<String>) {
        let (mut thresholds, mut warnings) = (Self::default(), Vec::new());
        let of_workdir = workdir.join(STATE_DIR).join(OVERRIDES);
        // A session without a loop may use the project as its work directory.
        let is_project = workdir.canonicalize().ok() == project.root().canonicalize().ok();
        if !project.has_in_working_tree(workdir) && !is_project {
            thresholds.add(&of_workdir.display().to_string(), read(&of_workdir), &mut warnings);
        } else if !is_project && untrusted::is_file(&of_workdir) {
            warnings.push(format!(
                "{} is ignored, because it is in the working tree of the project; commit {STATE_DIR}/{OVERRIDES} instead",
                of_workdir.display()
            ));
        }
        let of_project = project.setting(OVERRIDES, &mut warnings);
        let name = project.root().join(STATE_DIR).join(OVERRIDES);
        thresholds.add(&name.display().to_string(), of_project, &mut warnings);
        (thresholds, warnings)
    }

    /// Adds the overrides of a file, unless an earlier one has them.
    fn add(&mut self, file: &str, text: Result<Option<String>, String>, warnings: &mut Vec<String>) {
        let overrides = match text.map(|text| text.map_or(Ok(BTreeMap::new()), |text| parse(&text))) {
            Ok(Ok(overrides)) => overrides,
            Ok(Err(fault)) | Err(fault) => {
                warnings.push(format!("{file}: the thresholds are ignored: {fault}"));
                return;
            }
        };
        for (key, value) in overrides {
            match checked(&key, &value) {
                Ok(value) => drop(self.overrides.entry(key).or_insert(value)),
                Err(fault) => warnings.push(format!("{file}: {fault}")),
            }
        }
    }

    /// Returns the threshold of a metric. An override applies to all metrics of its judge. `own`: the threshold in the
    /// table.
    pub fn effective(&self, category: Category, judge: &Judge, own: f64) -> f64 {
        let built_in = BUILT_IN.iter().find(|(of, name, _)| (*of, *name) == (category, judge.name));
        let named = self.overrides.get(&format!("{}:{}", category.name(), judge.name));
        named.copied().or_else(|| built_in.map(|(.., value)| *value)).unwrap_or(own)
    }
}

fn read(path: &Path) -> Result<Option<String>, String> {
    match untrusted::read_text(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("the file cannot be read: {error}")),
    }
}

fn parse(text: &str) -> Result<BTreeMap<String, Value>, String> {
    let document: OverridesDocument =
        serde_json::from_str(text).map_err(|error| format!("the file is malformed: {error}"))?;
    Ok(document.overrides)
}

fn checked(key: &str, value: &Value) -> Result<f64, String> {
    let category_judge = key.split_once(':').and_then(|(category, judge)| {
        let category = Category::value_variants().iter().find(|known| known.name() == category)?;
        table::find(*category, judge)
    });
    if category_judge.is_none() {
        return Err(format!(
            "{key} is ignored: no judge has this name; expected a key such as code:test-judge"
        ));
    }
    let number = value.as_f64().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| format!("{key} is ignored: {value} is no number between 0 and 1"))
}

#[cfg(test)]
mod tests {
    use loopgate_testkit::git::git;

    use super::*;

    struct Directories {
        _root: tempfile::TempDir,
        workdir: std::path::PathBuf,
        project: std::path::PathBuf,
    }

    impl Directories {
        fn new(of_workdir: Option<&str>, of_project: Option<&str>) -> Self {
            let root = tempfile::tempdir().unwrap();
            let project = root.path().join("project");
            let workdir = project.join(".loopgate/work");
            for (directory, text) in [(&workdir, of_workdir), (&project, of_project)] {
                let path = directory.join(".loopgate/settings/threshold-overrides.json");
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                text.into_iter().for_each(|text| std::fs::write(&path, text).unwrap());
            }
            Self { _root: root, workdir, project }
        }

        fn load(&self) -> (ScoreThresholds, Vec<String>) {
            load(&self.workdir, &self.project)
        }
    }

    fn load(workdir: &Path, project: &Path) -> (ScoreThresholds, Vec<String>) {
        let project = JudgedProject::find(workdir, Some(project), Category::Code).unwrap();
        ScoreThresholds::load(workdir, &project)
    }

    fn threshold(thresholds: &ScoreThresholds, category: Category, name: &str) -> f64 {
        let judge = table::find(category, name).unwrap();
        thresholds.effective(category, judge, judge.metrics[0].1)
    }

    // PR-08
    #[test]
    fn malformed_overrides_are_a_warning() {
        for malformed in
            ["{", "[]", r#"{"overrides": []}"#, r#"{"other": {}}"#, r#"{"overrides": {}, "x": 1}"#]
        {
            let (thresholds, warnings) = Directories::new(Some(malformed), None).load();
            assert!(warnings.len() == 1 && warnings[0].contains("malformed"), "{malformed}: {warnings:?}");
            assert_eq!(threshold(&thresholds, Category::Code, "test-judge"), 0.75);
            assert_eq!(threshold(&thresholds, Category::Plan, "test-judge"), 0.7);
        }
        let overrides = r#"{"overrides": {"code:test-judge": 0.6, "plan:test-judge": 1.5, "plan:dry-judge": "0.5",
            "code:poem-judge": 0.5, "code:goal-alignment-judge": 0.5, "code:kiss-judge": 1}}"#;
        let (thresholds, warnings) = Directories::new(Some(overrides), None).load();
        assert_eq!(threshold(&thresholds, Category::Code, "test-judge"), 0.6);
        assert_eq!(threshold(&thresholds, Category::Plan, "test-judge"), 0.7);
        assert_eq!(threshold(&thresholds, Category::Plan, "dry-judge"), 0.8);
        assert_eq!(threshold(&thresholds, Category::Code, "kiss-judge"), 1.0);
        assert_eq!(warnings.len(), 4, "{warnings:?}");
        let directories = Directories::new(Some("{"), None);
        assert_eq!(load(&directories.workdir, &directories.workdir).1.len(), 1);
        assert!(warnings.iter().any(|warning| warning.contains("plan:test-judge is ignored: 1.5")));
    }

    // PR-08
    #[test]
    fn overrides_of_the_work_directory_take_precedence() {
        let (thresholds, warnings) = Directories::new(None, None).load();
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!(threshold(&thresholds, Category::Code, "test-judge"), 0.75);
        let directories = Directories::new(
            Some(r#"{"overrides": {"code:test-judge": 0.6}}"#),
            Some(r#"{"overrides": {"code:test-judge": 0.5, "prd:prd-auditor": 0.4}}"#),
        );
        let (thresholds, warnings) = directories.load();
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!(threshold(&thresholds, Category::Code, "test-judge"), 0.6);
        assert_eq!(threshold(&thresholds, Category::Prd, "prd-auditor"), 0.4);
    }
    #[test]
    fn change_does_not_choose_its_thresholds() {
        let directories = Directories::new(
            Some(r#"{"overrides": {"code:test-judge": 0.1}}"#),
            Some(r#"{"overrides": {"code:test-judge": 0.5}}"#),
        );
        let project = &directories.project;
        let commit = |message| {
            git(project, &["add", "--all", "--force", ".loopgate/settings"]).unwrap();
            let args =
                ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "-m"];
            git(project, &[args.as_slice(), &[message]].concat()).unwrap();
        };
        git(project, &["init", "--quiet"]).unwrap();
        commit("before");
        let file = project.join(".loopgate/settings/threshold-overrides.json");
        std::fs::write(file, r#"{"overrides": {"code:test-judge": 0}}"#).unwrap();
        commit("change");
        let (thresholds, warnings) = directories.load();
        assert_eq!(threshold(&thresholds, Category::Code, "test-judge"), 0.5);
        assert!(warnings.len() == 1 && warnings[0].contains("is in the working tree"), "{warnings:?}");
    }
}
