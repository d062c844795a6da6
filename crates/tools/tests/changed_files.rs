//! Changes of a worktree against a commit, with the real git.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod machine;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use loopgate_home::Program;
use loopgate_tools::git::{
    ChangeKind, ChangeRange, ComparedFile, GeneratedKind, Git, ObjectHash, PatchOptions, Patches, time,
};
use loopgate_tools::process::Limits;
use machine::{Machine, write_script};

const PLAIN: PatchOptions = PatchOptions { context: 3, ignore_white_space: false };

/// A repository with one commit.
struct Code {
    machine: Machine,
    git: Git,
    clone: PathBuf,
    base: ObjectHash,
}

impl Code {
    async fn with(files: &[(&str, &str)]) -> Self {
        let machine = Machine::new(&[]);
        let identity = "[user]\n name = Ada\n email = ada@example.org\n[init]\n defaultBranch = main\n";
        fs::write(machine.at("home/.gitconfig"), identity).unwrap();
        let git = Git::new(machine.programs.clone(), machine.sandbox.clone());
        let clone = machine.at("shop");
        fs::create_dir_all(&clone).unwrap();
        let base = ObjectHash::parse(&"0".repeat(40)).unwrap();
        let mut code = Self { machine, git, clone, base };
        code.run(&["init", "-q"]).await;
        for (name, text) in files {
            code.write(name, text);
        }
        code.base = code.commit("First").await;
        code
    }

    async fn run(&self, args: &[&str]) -> String {
        let command = self.machine.programs.command(Program::Git).await.directory(&self.clone).args(args);
        let output = command.run(Limits::time(time::USER_OPERATION)).await.unwrap();
        assert!(output.status.success(), "git {args:?}: {}", output.stderr_text());
        output.stdout_text().trim().to_owned()
    }

    async fn commit(&self, message: &str) -> ObjectHash {
        self.run(&["add", "-A"]).await;
        self.run(&["commit", "-q", "--allow-empty", "-m", message]).await;
        ObjectHash::parse(&self.run(&["rev-parse", "HEAD"]).await).unwrap()
    }

    fn write(&self, name: impl AsRef<Path>, text: &str) {
        let path = self.clone.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    async fn changes(&self) -> Vec<ComparedFile> {
        self.git.file_changes(&self.clone, &ChangeRange::since(&self.base)).await.unwrap().files
    }

    async fn patches(&self, names: &[&str], options: PatchOptions) -> Patches {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        self.git.patches(&self.clone, &ChangeRange::since(&self.base), &names, options).await.unwrap()
    }

    /// Returns the state that a reading command must not change.
    async fn state(&self) -> String {
        let index = fs::read(self.clone.join(".git/index")).unwrap();
        let objects = self.run(&["count-objects", "-v"]).await;
        format!("{} {objects} {}", index.len(), self.run(&["status", "--porcelain"]).await)
    }
}

fn summary(files: &[ComparedFile]) -> Vec<(String, ChangeKind, Option<u64>, Option<u64>)> {
    let line = |file: &ComparedFile| {
        (String::from_utf8_lossy(&file.path).into_owned(), file.kind, file.additions, file.deletions)
    };
    files.iter().map(line).collect()
}

#[tokio::test]
async fn committed_staged_unstaged_and_untracked_changes_are_listed() {
    let text = "1\n2\n3\n4\n5\n6\n";
    let code = Code::with(&[("committed", "a\n"), ("staged", "a\n"), ("gone", "x\n"), ("old", text)]).await;
    code.write("committed", "b\n");
    code.commit("Second").await;
    code.write("staged", "a\nb\n");
    code.run(&["add", "staged"]).await;
    fs::remove_file(code.clone.join("gone")).unwrap();
    fs::rename(code.clone.join("old"), code.clone.join("renamed")).unwrap();
    code.write("new/file", "1\n2\n");
    code.write(".loopgate/work/plan.json", "{}");
    let state = code.state().await;
    let files = code.changes().await;
    assert_eq!(
        summary(&files),
        [
            ("committed".to_owned(), ChangeKind::Modified, Some(1), Some(1)),
            ("gone".to_owned(), ChangeKind::Deleted, Some(0), Some(1)),
            ("new/file".to_owned(), ChangeKind::Added, Some(2), Some(0)),
            ("renamed".to_owned(), ChangeKind::Renamed, Some(0), Some(0)),
            ("staged".to_owned(), ChangeKind::Modified, Some(1), Some(0)),
        ]
    );
    assert_eq!(files[3].from.as_deref(), Some(b"old".as_slice()));
    assert_eq!(code.state().await, state, "reading changes nothing");
}

#[tokio::test]
async fn hash_of_a_file_changes_with_its_content_only() {
    let code = Code::with(&[("a", "1\n")]).await;
    code.write("a", "2\n");
    code.write("new", "1\n");
    let hashes = async || -> Vec<_> { code.changes().await.into_iter().map(|file| file.hash).collect() };
    let uncommitted = hashes().await;
    assert!(uncommitted.iter().all(Option::is_some));
    code.commit("Second").await;
    assert_eq!(hashes().await, uncommitted);
    code.write("a", "3\n");
    let changed = hashes().await;
    assert_ne!(changed[0], uncommitted[0]);
    assert_eq!(changed[1], uncommitted[1]);
}

#[tokio::test]
async fn range_is_a_commit_or_begins_after_one() {
    let code = Code::with(&[("a", "1\n")]).await;
    code.write("a", "2\n");
    let second = code.commit("Second").await;
    code.write("b", "1\n");
    let third = code.commit("Third").await;
    code.write("c", "1\n");
    let names = async |range: &ChangeRange| -> Vec<String> {
        let files = code.git.file_changes(&code.clone, range).await.unwrap().files;
        summary(&files).into_iter().map(|(name, ..)| name).collect()
    };
    assert_eq!(names(&ChangeRange::since(&code.base)).await, ["a", "b", "c"]);
    assert_eq!(names(&ChangeRange::since(&second)).await, ["b", "c"]);
    assert_eq!(names(&code.git.range_of_commit(&code.clone, &third).await.unwrap()).await, ["b"]);
    assert_eq!(names(&code.git.range_of_commit(&code.clone, &code.base).await.unwrap()).await, ["a"]);
    assert_eq!(names(&ChangeRange::everything()).await, ["a", "b", "c"]);
    let commits = code.git.commits_since(&code.clone, Some(code.base.as_str())).await.unwrap();
    let subjects: Vec<&str> = commits.iter().map(|commit| commit.subject.as_str()).collect();
    assert_eq!(subjects, ["Third", "Second"]);
}

#[tokio::test]
async fn names_are_read_in_their_bytes() {
    let code = Code::with(&[("a", "1\n")]).await;
    let names: [&[u8]; 7] =
        [b"-option", b"*", b":(top)x", b"line\nbreak", b"quote\"'\\", "größe".as_bytes(), b"bad\xff"];
    for name in names {
        code.write(OsStr::from_bytes(name), "content\n");
    }
    let files = code.changes().await;
    for name in names {
        assert!(files.iter().any(|file| file.path == name), "{}", String::from_utf8_lossy(name));
        let text = String::from_utf8_lossy(name).into_owned();
        let patches = code.patches(&[&text], PLAIN).await.patches;
        let [patch] = patches.as_slice() else { panic!("{text}: {patches:?}") };
        assert_eq!(patch.path, text);
        assert!(patch.patch.ends_with("@@ -0,0 +1 @@\n+content\n"), "{}", patch.patch);
    }
}

#[tokio::test]
async fn patches_have_the_requested_context_and_ignore_white_space() {
    let code = Code::with(&[("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n"), ("b", "x\n"), ("old", "1\n2\n3\n")]).await;
    code.write("a", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n");
    code.write("b", " x\n");
    fs::rename(code.clone.join("old"), code.clone.join("renamed")).unwrap();
    let patch = async |name: &str, options| {
        let patches = code.patches(&[name], options).await.patches;
        patches.into_iter().next().unwrap().patch
    };
    assert!(patch("a", PLAIN).await.contains("@@ -2,7 +2,7 @@"));
    assert!(patch("a", PatchOptions { context: 1000, ..PLAIN }).await.contains("@@ -1,9 +1,9 @@"));
    assert!(patch("b", PLAIN).await.contains("\n+ x\n"));
    assert_eq!(patch("b", PatchOptions { ignore_white_space: true, ..PLAIN }).await, "");
    let renamed = code.patches(&["old", "renamed"], PLAIN).await.patches;
    assert_eq!(renamed.len(), 1);
    assert!(renamed[0].patch.contains("rename from old\nrename to renamed\n"), "{}", renamed[0].patch);
    assert_eq!(code.patches(&["unchanged"], PLAIN).await, Patches::default());
}

#[tokio::test]
async fn binary_generated_and_linked_files_are_marked() {
    let code = Code::with(&[("a", "1\n"), (".gitattributes", "api.ts linguist-generated\n")]).await;
    fs::write(code.clone.join("image.png"), b"\x89PNG\0\0").unwrap();
    code.write("api.ts", "1\n");
    code.write("package-lock.json", "{}\n");
    code.write("large", &"x\n".repeat(2 * 1024 * 1024));
    // Points outside of the repository: its target is the content, and is not read.
    symlink("/etc/passwd", code.clone.join("link")).unwrap();
    fs::remove_file(code.clone.join("a")).unwrap();
    symlink("api.ts", code.clone.join("a")).unwrap();
    let files = code.changes().await;
    let file = |name: &str| files.iter().find(|file| file.path == name.as_bytes()).unwrap();
    assert_eq!((file("image.png").additions, file("image.png").size), (None, Some(6)));
    assert_eq!(file("large").additions, None);
    assert_eq!(file("api.ts").generated, Some(GeneratedKind::Generated));
    assert_eq!(file("package-lock.json").generated, Some(GeneratedKind::LockFile));
    assert_eq!((file("link").new_mode.as_deref(), file("link").additions), (Some("120000"), Some(1)));
    assert_eq!(file("a").kind, ChangeKind::TypeChanged);
    let patches = code.patches(&["a", "link"], PLAIN).await.patches;
    assert_eq!(patches[0].patch.matches("diff --git a/a b/a").count(), 2);
    assert!(patches[1].patch.contains("+/etc/passwd"));
}

#[tokio::test]
async fn programs_of_the_repository_do_not_run() {
    let code = Code::with(&[("a", "1\n")]).await;
    let evidence = code.machine.at("ran");
    let script = code.machine.at("script");
    write_script(&script, &format!("touch '{}'; cat", evidence.display()));
    let script = script.to_str().unwrap();
    for name in [
        "diff.external",
        "diff.x.command",
        "diff.x.textconv",
        "filter.x.clean",
        "filter.x.smudge",
        "filter.x.process",
        "core.fsmonitor",
        "core.pager",
        "pager.diff",
    ] {
        code.run(&["config", name, script]).await;
    }
    code.write(".gitattributes", "* diff=x filter=x\n");
    code.write("a", "2\n");
    code.write("new", "1\n");
    assert_eq!(code.changes().await.len(), 3);
    assert_eq!(code.patches(&["a", "new"], PLAIN).await.patches.len(), 2);
    assert!(!evidence.exists());
}

#[tokio::test]
async fn conflict_is_one_change() {
    let code = Code::with(&[("a", "1\n")]).await;
    code.run(&["checkout", "-q", "-b", "other"]).await;
    code.write("a", "2\n");
    code.commit("Other").await;
    code.run(&["checkout", "-q", "main"]).await;
    code.write("a", "3\n");
    code.commit("Main").await;
    let merge = code.machine.programs.command(Program::Git).await.directory(&code.clone);
    merge.args(["merge", "other"]).run(Limits::time(time::LOCAL)).await.unwrap();
    let files = code.changes().await;
    assert_eq!(summary(&files), [("a".to_owned(), ChangeKind::Modified, Some(5), Some(1))]);
}
