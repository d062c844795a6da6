//! Git configurations of users that change what git prints. Tests compare results under them with those under an empty
//! configuration.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

/// Sections of which every option is set.
const SECTIONS: [&str; 15] = [
    "add",
    "apply",
    "color",
    "column",
    "commit",
    "diff",
    "format",
    "i18n",
    "index",
    "log",
    "notes",
    "pager",
    "stash",
    "status",
    "versionsort",
];
/// Further options that are set.
const OPTIONS: [&str; 14] = [
    "core.abbrev",
    "core.attributesFile",
    "core.checkStat",
    "core.ignoreStat",
    "core.logAllRefUpdates",
    "core.notesRef",
    "core.pager",
    "core.preloadIndex",
    "core.quotePath",
    "core.trustctime",
    "core.untrackedCache",
    "core.warnAmbiguousRefs",
    "core.whitespace",
    "submodule.<name>.ignore",
];
/// Options that do not change the output but require a key, a program or a file.
const EXCLUDED: [&str; 3] = ["commit.gpgSign", "commit.template", "index.version"];
/// Values of the options that are not booleans, by name; `*` matches any text. The first matching row applies.
const VALUES: [(&str, &[&str]); 49] = [
    ("apply.ignoreWhitespace", &["change", "no"]),
    ("apply.whitespace", &["error", "fix", "nowarn"]),
    ("color.advice", &["always"]),
    ("color.branch", &["always"]),
    ("color.diff", &["always"]),
    ("color.grep", &["always"]),
    ("color.interactive", &["always"]),
    ("color.pager", &["true"]),
    ("color.push", &["always"]),
    ("color.remote", &["always"]),
    ("color.showBranch", &["always"]),
    ("color.status", &["always"]),
    ("color.transport", &["always"]),
    ("color.ui", &["always", "never"]),
    ("color.*", &["red"]),
    ("column.*", &["always,plain"]),
    ("commit.cleanup", &["strip", "scissors", "verbatim"]),
    ("core.abbrev", &["4", "40"]),
    ("core.attributesFile", &["ATTRIBUTES"]),
    ("core.checkStat", &["minimal"]),
    ("core.notesRef", &["refs/notes/other"]),
    ("core.pager", &["false"]),
    ("core.whitespace", &["tab-in-indent,cr-at-eol"]),
    ("diff.<driver>.*", &["false"]),
    ("diff.algorithm", &["patience", "histogram", "minimal"]),
    ("diff.colorMoved", &["zebra"]),
    ("diff.colorMovedWS", &["ignore-all-space"]),
    ("diff.context", &["0", "9"]),
    ("diff.dirstat", &["files,0"]),
    ("diff.dstPrefix", &["to/"]),
    ("diff.external", &["false"]),
    ("diff.ignoreSubmodules", &["all", "dirty", "untracked"]),
    ("diff.interHunkContext", &["9"]),
    ("diff.orderFile", &["ORDER"]),
    ("diff.renames", &["false", "copies"]),
    ("diff.srcPrefix", &["from/"]),
    ("diff.stat*Width", &["5"]),
    ("diff.submodule", &["log", "diff"]),
    ("diff.wsErrorHighlight", &["all"]),
    ("diff.*Limit", &["1"]),
    ("format.filenameMaxLength", &["9"]),
    ("format.pretty", &["raw", "oneline"]),
    ("i18n.*", &["ISO-8859-1"]),
    ("index.threads", &["2"]),
    ("log.date", &["relative", "format:x"]),
    ("log.diffMerges", &["on", "off"]),
    ("status.showUntrackedFiles", &["no", "all"]),
    ("status.renameLimit", &["1"]),
    ("submodule.<name>.ignore", &["all", "dirty", "untracked"]),
];

/// Returns configuration files that set all options for the display of files, commits, differences and messages, each to
/// other values. The names are those that the installed git knows. `directory` receives the files that options refer to.
///
/// # Errors
/// Fails when git cannot list its options, or a file cannot be written.
pub fn configurations(directory: &Path) -> anyhow::Result<Vec<String>> {
    #[expect(
        clippy::disallowed_methods,
        reason = "prepares a test independently of the product's git runner"
    )]
    let output = Command::new("git").args(["help", "--config"]).output().context("git help --config")?;
    let listed = String::from_utf8(output.stdout)?;
    let is_set = |name: &&str| {
        let section = name.split('.').next().unwrap_or_default();
        (SECTIONS.contains(&section) || OPTIONS.contains(name)) && !EXCLUDED.contains(name)
    };
    let names: Vec<&str> = listed.lines().filter(is_set).collect();
    anyhow::ensure!(names.len() > 100, "git lists only {} options", names.len());
    let (attributes, order) = (directory.join("attributes"), directory.join("order"));
    std::fs::write(&attributes, "* diff=hostile\n")?;
    std::fs::write(&order, "z*\n")?;
    let rounds = names.iter().map(|name| values(name).len()).max().unwrap_or_default();
    let configuration = |round: usize| {
        names.iter().fold(String::new(), |mut text, name| {
            let options = values(name);
            let value = match options[round % options.len()] {
                "ATTRIBUTES" => attributes.display().to_string(),
                "ORDER" => order.display().to_string(),
                value => value.to_owned(),
            };
            let (section, rest) = name.split_once('.').unwrap_or_default();
            let (section, key) = match rest.rsplit_once('.') {
                Some(("<driver>", key)) => (format!("{section} \"hostile\""), key),
                Some(("<name>", key)) => (format!("{section} \"lib\""), key),
                Some((subsection, key)) => (format!("{section} \"{subsection}\""), key),
                None => (section.to_owned(), rest),
            };
            // `pager.<cmd>` and `notes.rewrite.<command>`.
            let key = if key.starts_with('<') { "status" } else { key };
            let _ = write!(text, "[{section}]\n\t{key} = {value}\n");
            text
        })
    };
    Ok((0..rounds).map(configuration).collect())
}

fn values(name: &str) -> &'static [&'static str] {
    let matches = |pattern: &str| match pattern.split_once('*') {
        Some((start, end)) => name.starts_with(start) && name.ends_with(end),
        None => pattern == name,
    };
    let row = VALUES.iter().find(|(pattern, _)| matches(pattern));
    row.map_or(&["true", "false"], |(_, values)| values)
}
