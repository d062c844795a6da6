//! About 300 generated changes with planted problems: each is found at its line, and nothing else is reported.

use std::fmt::Write as _;

use super::*;
use crate::diff::ReviewedChange;

const CHANGES: u64 = 300;

/// A generator of reproducible numbers (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }

    /// Returns random letters and digits, with at least one digit between letters.
    fn word(&mut self, length: usize) -> String {
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        let mut word: String =
            (0..length).map(|_| char::from(alphabet[self.below(alphabet.len())])).collect();
        word.replace_range(2..9, "x7Q2zK9");
        word
    }
}

/// Ordinary lines, several of which resemble a problem.
const ORDINARY: [&str; 26] = [
    "",
    "    return total",
    "import { secretary } from './secretary'",
    "const url = 'https://example.com/home/sam/photos'",
    "// see /home/sam/notes for the first draft",
    "router.get('/home/settings/profile', handler)",
    "const token = request.headers.token",
    "let password = process.env.DB_PASSWORD",
    "api_key = settings.API_KEY_2",
    "id = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'",
    "commit = '0123456789abcdef0123456789abcdef01234567'",
    "integrity sha512-Qb3xZ0q9kRn7VtYw2mPfLs8aHd1cJe5gUo4iXy6TzKvBrNpWlEhMjSfDaGtCuOqI==",
    "print(\"TOTAL:\\n\")",
    "diff --git a/x b/x",
    "@@ -1,2 +1,2 @@",
    "--- a/home/sam/x",
    "+++ b/home/sam/x",
    "\\ No newline at end of file",
    "if token == 'none' or password is None:",
    "the secret of a good plan is 1 short list",
    "token_count = 120000; max_tokens: 4096",
    "path: src/home/runner/index.ts",
    "background: url(/images/home/x.png)",
    "password_hint = 'your first school in 1999'",
    "const CSRF = '{{ csrf_token }}'",
    "C: drive letters are not paths",
];

/// A problem at a line, with the check that finds it.
fn planted(numbers: &mut Numbers) -> (String, &'static [HygieneCheck]) {
    use HygieneCheck::{CiArtifact, KeyMaterial, PathLeakage, Secret};
    let length = 20 + numbers.below(20);
    let word = numbers.word(length);
    match numbers.below(9) {
        0 => ("root = \"/home/runner/work/shop\"".to_owned(), &[CiArtifact, PathLeakage]),
        1 => ("cp out /github/workspace/out".to_owned(), &[CiArtifact]),
        2 => (format!("dir = '/home/user{}/src'", numbers.below(99)), &[PathLeakage]),
        3 => ("const cache = \"/Users/sam/Library\";".to_owned(), &[PathLeakage]),
        4 => ("let dir = \"C:\\\\Users\\\\sam\\\\x\";".to_owned(), &[PathLeakage]),
        5 => (format!("header = \"Bearer gh{}_{word}\"", numbers.pick(&["p", "o", "s"])), &[KeyMaterial]),
        6 => (format!("xox{}-{}-{word}", 'b', 1234567 + numbers.below(99)), &[KeyMaterial]),
        7 => {
            let name = numbers.pick(&["password", "apiKey", "client_secret", "ACCESS_TOKEN", "dbPassword"]);
            (format!("{name} = \"{word}\""), &[Secret])
        }
        _ => (format!("    \"authToken\": '{word}',"), &[Secret]),
    }
}

/// Builds git's output for a change, independently of the parser.
#[derive(Default)]
struct GitOutput {
    raw: String,
    counts: String,
    patch: String,
}

impl GitOutput {
    fn add(&mut self, path: &str, is_added: bool, hunks: &[(u64, Vec<String>)]) {
        let (mode, status) = if is_added { ("000000", 'A') } else { ("100644", 'M') };
        let hash = "0".repeat(40);
        let _ = write!(self.raw, ":{mode} 100644 {hash} {hash} {status}\0{path}\0");
        let added: usize = hunks.iter().map(|(_, lines)| lines.len()).sum();
        let removed = if is_added { 0 } else { hunks.len() };
        let _ = write!(self.counts, "{added}\t{removed}\t{path}\0");
        let _ = write!(self.patch, "diff --git a/{path} b/{path}\nindex 0..1\n--- a/{path}\n+++ b/{path}\n");
        for (first, lines) in hunks {
            let old = if is_added { "0,0".to_owned() } else { first.to_string() };
            let _ = writeln!(self.patch, "@@ -{old} +{first},{} @@ fn main", lines.len());
            if !is_added {
                self.patch.push_str("-token = '/home/runner/removed'\n");
            }
            for line in lines {
                let _ = writeln!(self.patch, "+{line}");
            }
        }
    }

    fn text(&self) -> String {
        format!("{}{}\0{}", self.raw, self.counts, self.patch)
    }
}

type PlantedProblems = BTreeSet<(String, u64, HygieneCheck)>;

fn generate(seed: u64) -> (String, PlantedProblems) {
    let mut numbers = Numbers(seed);
    let mut output = GitOutput::default();
    let mut expected = PlantedProblems::new();
    for file in 0..1 + numbers.below(4) {
        let directory = numbers.pick(&["src", "lib/core", "tests", "docs", "app/home/user"]);
        let extension = numbers.pick(&["rs", "ts", "py", "go", "md"]);
        let path = format!("{directory}/file{file}.{extension}");
        let is_example = matches!(directory, "tests" | "docs") || extension == "md";
        let is_added = numbers.below(2) == 0;
        let mut first = 1;
        let mut hunks = Vec::new();
        for _ in 0..if is_added { 1 } else { 1 + numbers.below(3) } {
            first += if is_added { 0 } else { 3 + numbers.below(50) as u64 };
            let mut lines = Vec::new();
            for _ in 0..1 + numbers.below(12) {
                let number = first + lines.len() as u64;
                if numbers.below(6) == 0 {
                    let (line, checks) = planted(&mut numbers);
                    lines.push(line);
                    let reported =
                        checks.iter().filter(|check| !is_example || **check == HygieneCheck::KeyMaterial);
                    expected.extend(reported.map(|check| (path.clone(), number, *check)));
                } else {
                    lines.push(numbers.pick(&ORDINARY).to_owned());
                }
            }
            if numbers.below(8) == 0 {
                expected.insert((path.clone(), first + lines.len() as u64, HygieneCheck::KeyMaterial));
                lines.extend(private_key());
            }
            let length = lines.len() as u64;
            hunks.push((first, lines));
            first += length;
        }
        output.add(&path, is_added, &hunks);
    }
    if numbers.below(3) == 0 {
        let (path, checks): (&str, &[HygieneCheck]) = [
            ("web/.env.production", [HygieneCheck::GitignoreDrift, HygieneCheck::SensitiveFile].as_slice()),
            ("web/secrets.yaml", &[HygieneCheck::SensitiveFile]),
            ("web/secretary.yaml", &[]),
            ("web/.env.example", &[]),
            ("web/state.local", &[HygieneCheck::GitignoreDrift]),
        ][numbers.below(5)];
        output.add(path, true, &[(1, vec!["name: x".to_owned()])]);
        expected.extend(checks.iter().map(|check| (path.to_owned(), 1, *check)));
    }
    (output.text(), expected)
}

#[test]
fn planted_problems_are_found_and_nothing_else() {
    let mut count = 0;
    for seed in 0..CHANGES {
        let (text, expected) = generate(seed);
        let data = DiffData::from(&ReviewedChange::parse(text.as_bytes()).unwrap());
        let check = |finding: &Finding| {
            HygieneCheck::ALL.into_iter().find(|check| check.issue() == finding.issue).unwrap()
        };
        let findings = check_change(&data, &BTreeSet::new());
        let found: Vec<(String, u64, HygieneCheck)> = findings
            .iter()
            .map(|finding| (finding.file.clone(), finding.line.unwrap(), check(finding)))
            .collect();
        assert_eq!(found.iter().cloned().collect::<PlantedProblems>(), expected, "seed {seed}:\n{text}");
        assert_eq!(found.len(), expected.len(), "seed {seed}: a problem is reported twice");
        count += found.len();
    }
    assert!(count > CHANGES as usize, "{count}");
}
