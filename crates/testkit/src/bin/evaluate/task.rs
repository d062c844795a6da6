//! The ten tasks: a request, the files that a solution may change, and a hidden check.

use std::path::Path;

use crate::command::run;
use crate::repository::SampleRepository;

#[derive(Debug)]
pub struct EvaluationTask {
    pub name: &'static str,
    /// Repository that the task changes.
    pub repository: SampleRepository,
    /// Text of the user's request.
    pub request: &'static str,
    /// Files that a solution may change, in addition to tests and the README.
    pub files: &'static [&'static str],
    /// Program that succeeds in a repository that fulfills the request.
    pub check: TaskCheck,
}

/// A check in one of the repositories' languages.
#[derive(Debug)]
pub enum TaskCheck {
    /// Program for `python3 -c`.
    Python(&'static str),
    /// Script for `sh -euc`.
    Shell(&'static str),
}

impl TaskCheck {
    /// Runs the check in a repository. Returns whether it passes.
    pub fn passes(&self, root: &Path) -> anyhow::Result<bool> {
        let output = match self {
            Self::Python(program) => run("python3", &["-c", program], root)?,
            Self::Shell(program) => run("sh", &["-euc", program], root)?,
        };
        Ok(output.is_success)
    }
}

impl EvaluationTask {
    /// Returns whether a change of this file is related to the task.
    pub fn covers(&self, path: &str) -> bool {
        self.files.contains(&path) || path == "README.md" || self.repository.is_test(path)
    }
}

pub fn all() -> Vec<EvaluationTask> {
    use SampleRepository::{Backup, Ledger, Textkit};
    use TaskCheck::{Python, Shell};
    let task =
        |name, repository, files, request, check| EvaluationTask { name, repository, request, files, check };
    vec![
        task(
            "ledger-negative-amounts",
            Ledger,
            &["ledger/money.py"],
            "`parse` refuses negative amounts. It should read `-3.50` as -350 cents, and so an amount in parentheses, \
             `(3.50)`. What is no amount is still refused.",
            Python(
                "from ledger.money import parse\nassert parse('-3.50') == -350 and parse('(3.50)') == -350\n\
                 assert parse('3') == 300\ntry:\n    parse('(3.50')\nexcept ValueError: pass\nelse: raise SystemExit(1)",
            ),
        ),
        task(
            "ledger-totals-by-category",
            Ledger,
            &["ledger/entries.py"],
            "Add a function `totals(entries)` to ledger/entries.py: a dict with the sum of each category in cents, in the \
             order in which the categories first appear.",
            Python(
                "from ledger.entries import read, totals\n\
                 e = read(['1,food,a,1', '2,rent,b,5', '3,food,c,2.50'])\n\
                 assert list(totals(e).items()) == [('food', 350), ('rent', 500)] and totals([]) == {}",
            ),
        ),
        task(
            "ledger-quoted-commas",
            Ledger,
            &["ledger/entries.py"],
            "`read` fails for a line whose text holds a comma, although it is quoted as in CSV: \
             `2031-04-01,food,\"bread, butter\",3.50`. Read such lines, and skip empty ones.",
            Python(
                "from ledger.entries import read\n\
                 e = read(['d,food,\"bread, butter\",3.50\\n', '\\n', 'd,food,milk,1\\n'])\n\
                 assert [x.text for x in e] == ['bread, butter', 'milk']",
            ),
        ),
        task(
            "ledger-lost-cents",
            Ledger,
            &["ledger/money.py"],
            "`split` loses cents: the shares of 100 cents among 3 people add up to 99. The shares must add up to the \
             amount; the first ones get the cents that are left over.",
            Python(
                "from ledger.money import split\nassert split(100, 3) == [34, 33, 33]\n\
                 assert split(5, 2) == [3, 2] and split(900, 3) == [300] * 3",
            ),
        ),
        task(
            "textkit-long-words",
            Textkit,
            &["textkit.py"],
            "`wrap` returns lines that are longer than the width when a word is. Break such words at the width.",
            Python(
                "from textkit import wrap\nassert wrap('abcdefgh ij', 3) == ['abc', 'def', 'gh', 'ij']\n\
                 assert max(map(len, wrap('a ' + 'x' * 20 + ' b', 7))) <= 7",
            ),
        ),
        task(
            "textkit-slug",
            Textkit,
            &["textkit.py"],
            "Add a function `slug(text)`: lower case, every run of characters other than a to z and 0 to 9 becomes one \
             hyphen, none at the beginning or the end.",
            Python(
                "from textkit import slug\nassert slug('  Hello, World! 2nd ') == 'hello-world-2nd'\n\
                 assert slug('...') == '' and slug('a--b') == 'a-b'",
            ),
        ),
        task(
            "textkit-count",
            Textkit,
            &["textkit.py"],
            "Add the command `textkit.py count FILE`, which prints the number of words in the file.",
            Shell(
                "f=$(mktemp); printf 'one two\\nthree' > \"$f\"; [ \"$(python3 textkit.py count \"$f\")\" = 3 ]",
            ),
        ),
        task(
            "backup-blanks-in-names",
            Backup,
            &["bin/backup.sh", "lib/names.sh"],
            "bin/backup.sh fails for files whose names hold blanks. Copy them too.",
            Shell(
                "d=$(mktemp -d); mkdir \"$d/my source\"; echo 1 > \"$d/my source/a  b.txt\"; \
                 t=$(sh bin/backup.sh \"$d/my source\" \"$d/my target\"); [ \"$(cat \"$t/a  b.txt\")\" = 1 ]",
            ),
        ),
        task(
            "backup-dry-run",
            Backup,
            &["bin/backup.sh", "lib/names.sh"],
            "Add an option `--dry-run` before the other arguments of bin/backup.sh: it prints the place where the backup \
             would be, and makes nothing.",
            Shell(
                "d=$(mktemp -d); mkdir \"$d/s\"; echo 1 > \"$d/s/a\"; \
                 [ \"$(sh bin/backup.sh --dry-run \"$d/s\" \"$d/t\")\" = \"$d/t/backup-1\" ]; [ ! -e \"$d/t\" ]; \
                 sh bin/backup.sh \"$d/s\" \"$d/t\"; [ -e \"$d/t/backup-1/a\" ]",
            ),
        ),
        task(
            "backup-subdirectories",
            Backup,
            &["bin/backup.sh", "lib/names.sh"],
            "bin/backup.sh fails when the source has subdirectories. Copy them with all that is in them, hidden files \
             included.",
            Shell(
                "d=$(mktemp -d); mkdir -p \"$d/s/sub\"; echo 1 > \"$d/s/sub/a\"; echo 2 > \"$d/s/.hidden\"; \
                 t=$(sh bin/backup.sh \"$d/s\" \"$d/t\"); [ \"$(cat \"$t/sub/a\")\" = 1 ]; [ \"$(cat \"$t/.hidden\")\" = 2 ]",
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_start_with_passing_tests_and_an_unfulfilled_request() {
        let dir = tempfile::tempdir().unwrap();
        for task in all() {
            let root = task.repository.create(&dir.path().join(task.name)).unwrap();
            assert!(task.repository.tests_pass(&root).unwrap(), "{}", task.name);
            assert!(!task.check.passes(&root).unwrap(), "{}", task.name);
            for file in task.files {
                assert!(root.join(file).is_file(), "{}: {file}", task.name);
            }
        }
        assert_eq!(all().len(), 10);
    }
}
