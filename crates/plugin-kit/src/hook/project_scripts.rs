//! Command lines of a project that its package manager or make runs: scripts of `package.json`, recipes of a Makefile.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use loopgate_home::untrusted;
use serde_json::Value;

use super::shell::{ParsedCommandLine, base_name, is_text_program};

/// Programs that run scripts of `package.json`.
const PACKAGE_MANAGERS: [&str; 4] = ["npm", "yarn", "pnpm", "bun"];
/// Programs that run the recipes of a Makefile.
const MAKES: [&str; 2] = ["make", "gmake"];
/// Names of a Makefile, in the order of their precedence.
const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];
/// Value of variables that a Makefile does not define: no program of interest.
const UNDEFINED: &str = "undefined";

/// Returns the command lines of the project that a command line runs. A name counts in every directory that the command
/// line names, because `cd`, `--prefix` and `-C` change the directory.
pub fn texts(line: &ParsedCommandLine, directory: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for words in &line.commands {
        // Any word may be the program, as in `npx cross-env A=1 npm run x`.
        let runs = |programs: &[&str]| {
            !is_text_program(words) && words.iter().any(|word| programs.contains(&base_name(word)))
        };
        let (is_package_manager, is_make) = (runs(&PACKAGE_MANAGERS), runs(&MAKES));
        if !is_package_manager && !is_make {
            continue;
        }
        let named = line.commands.iter().flatten().map(|word| directory.join(word));
        let directories: BTreeSet<PathBuf> =
            named.filter(|path| path.is_dir()).chain([directory.to_owned()]).collect();
        for directory in &directories {
            if is_package_manager {
                texts.extend(package_scripts(directory, words));
            }
            if is_make {
                let own = MAKEFILES.into_iter().map(|name| directory.join(name));
                let given = words.iter().map(|word| directory.join(word.trim_start_matches("-f")));
                texts.extend(
                    given.chain(own).filter_map(|file| recipes(&file, words)).next().unwrap_or_default(),
                );
            }
        }
    }
    texts
}

/// Returns the scripts whose names are words of a command, with those that run before and after them.
fn package_scripts(directory: &Path, words: &[String]) -> Vec<String> {
    let package: Option<Value> = untrusted::read_json(&directory.join("package.json"));
    let scripts = package.as_ref().and_then(|package| package.get("scripts")?.as_object());
    let is_run = |name: &str| {
        let name = |prefix: &str| name.strip_prefix(prefix).unwrap_or(name).to_owned();
        words.iter().any(|word| ["", "pre", "post"].into_iter().any(|prefix| name(prefix) == *word))
    };
    let run = scripts.into_iter().flatten().filter(|(name, _)| is_run(name));
    run.filter_map(|(_, text)| text.as_str()).map(str::to_owned).collect()
}

/// Returns the recipes of the targets that a call of make names, else of the first target, and of their prerequisites.
/// `None` if the file is no Makefile.
fn recipes(file: &Path, words: &[String]) -> Option<Vec<String>> {
    let text = untrusted::read_text(file).ok()?;
    let makefile = Makefile::parse(&text);
    makefile.first?;
    let named: Vec<&str> =
        words.iter().map(String::as_str).filter(|word| makefile.rules.contains_key(word)).collect();
    let mut pending = if named.is_empty() { makefile.first.into_iter().collect() } else { named };
    let mut visited = BTreeSet::new();
    let mut recipes = Vec::new();
    while let Some(target) = pending.pop() {
        let Some(rule) = makefile.rules.get(target).filter(|_| visited.insert(target)) else { continue };
        pending.extend(&rule.prerequisites);
        recipes.extend(rule.recipe.iter().map(|line| makefile.expand(line)));
    }
    Some(recipes)
}

/// Rules and variables of a Makefile. Patterns, functions and included files are not interpreted.
#[derive(Default)]
struct Makefile<'a> {
    rules: BTreeMap<&'a str, Rule<'a>>,
    /// Target of the first rule.
    first: Option<&'a str>,
    variables: BTreeMap<&'a str, &'a str>,
}

#[derive(Default)]
struct Rule<'a> {
    prerequisites: Vec<&'a str>,
    recipe: Vec<String>,
}

impl<'a> Makefile<'a> {
    fn parse(text: &'a str) -> Self {
        let mut makefile = Self::default();
        let mut targets: Vec<&str> = Vec::new();
        let mut continues = false;
        for line in text.lines() {
            if let Some(line) = line.strip_prefix('\t') {
                for target in &targets {
                    let recipe = &mut makefile.rules.entry(target).or_default().recipe;
                    match recipe.last_mut().filter(|_| continues) {
                        Some(last) => last.push_str(line),
                        None => recipe.push(line.trim_start_matches(['@', '-', '+', ' ']).to_owned()),
                    }
                    if let Some(last) = recipe.last_mut().filter(|_| line.ends_with('\\')) {
                        last.pop();
                    }
                }
                continues = line.ends_with('\\');
                continue;
            }
            let assignment = line
                .split_once('=')
                .filter(|(name, _)| !name.trim_end_matches([':', '?', '+']).contains(':'));
            if let Some((name, value)) = assignment {
                let name = name.trim_end_matches([':', '?', '+', ' ']).trim_start();
                makefile.variables.insert(name, value.trim());
            } else if let Some((names, rest)) = line.split_once(':').filter(|_| !line.starts_with('#')) {
                targets = names.split_whitespace().collect();
                let (prerequisites, command) = rest.split_once(';').unwrap_or((rest, ""));
                for target in &targets {
                    let rule = makefile.rules.entry(target).or_default();
                    rule.prerequisites.extend(prerequisites.split_whitespace());
                    rule.recipe.extend(Some(command.trim().to_owned()).filter(|command| !command.is_empty()));
                }
                let first = targets.iter().find(|target| !target.starts_with('.'));
                makefile.first = makefile.first.or(first.copied());
            } else if !line.trim().is_empty() {
                targets.clear();
            }
        }
        makefile
    }

    /// Replaces the variables of make in a line of a recipe.
    fn expand(&self, line: &str) -> String {
        let mut expanded = String::new();
        let mut rest = line;
        while let Some((before, after)) = rest.split_once('$') {
            expanded.push_str(before);
            let end = match after.chars().next() {
                Some('(') => after.find(')'),
                Some('{') => after.find('}'),
                _ => None,
            };
            rest = if let Some(end) = end {
                let name = &after[1..end];
                let value = self.variables.get(name).copied();
                let value = value.filter(|value| !value.contains('$'));
                expanded.push_str(value.unwrap_or(if name == "MAKE" { "make" } else { UNDEFINED }));
                &after[end + 1..]
            } else if let Some(after) = after.strip_prefix('$') {
                expanded.push('$');
                after
            } else {
                expanded.push_str(UNDEFINED);
                after.get(after.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default()
            };
        }
        expanded.push_str(rest);
        expanded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        dir
    }

    fn of(dir: &tempfile::TempDir, command: &str) -> Vec<String> {
        texts(&ParsedCommandLine::read(command, "/home/u"), dir.path())
    }

    #[test]
    fn scripts_of_a_package_are_found_by_their_names() {
        let scripts = r#"{"scripts": {"x": "git stash", "prex": "a", "postx": "b", "test": "c"}}"#;
        let dir = project(&[("package.json", scripts), ("web/package.json", r#"{"scripts": {"y": "d"}}"#)]);
        assert_eq!(of(&dir, "npm run x"), ["git stash", "a", "b"]);
        assert_eq!(of(&dir, "CI=1 pnpm run -s test"), ["c"]);
        assert_eq!(of(&dir, "cd web && yarn y"), ["d"]);
        assert_eq!(of(&dir, "npm --prefix web run y"), ["d"]);
        for command in ["npm run other", "npm install", "cat x", "echo npm run x"] {
            assert_eq!(of(&dir, command), [""; 0], "{command}");
        }
        assert_eq!(of(&project(&[("package.json", "{")]), "npm run x"), [""; 0]);
    }

    #[test]
    fn recipes_of_a_target_and_its_prerequisites_are_found() {
        let makefile = "GIT ?= git\nall: a b\n\na:\n\t@$(GIT) stash\n\t-echo \\\n\t  two\nb: ; $(MAKE) clean\n\
            clean:\n\trm -f $(X) $$y $@\n";
        let dir = project(&[("Makefile", makefile), ("sub/x.mk", "t:\n\tgit clean -fd\n")]);
        assert_eq!(of(&dir, "make a"), ["git stash", "echo   two"]);
        assert_eq!(of(&dir, "make"), ["make clean", "git stash", "echo   two"]);
        assert_eq!(of(&dir, "make -j4 clean"), ["rm -f undefined $y undefined"]);
        assert_eq!(of(&dir, "make -f sub/x.mk t"), ["git clean -fd"]);
        assert_eq!(of(&dir, "echo make a; git add make"), [""; 0]);
    }
}
