use proptest::prelude::*;

use super::*;
use crate::settings::Overrides;

struct SandboxFixture {
    dir: tempfile::TempDir,
    sandbox: Sandbox,
}

impl SandboxFixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["box/sub", "box-evil", "data"] {
            std::fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        let overrides =
            Overrides { sandbox_base_directory: Some(dir.path().join("box")), ..Overrides::default() };
        let store = SettingsStore::open(&dir.path().join("settings.toml"), overrides).unwrap();
        let sandbox = Sandbox::new(Arc::new(store), &dir.path().join("data"));
        Self { dir, sandbox }
    }

    fn allows(&self, path: &str) -> bool {
        self.sandbox.check(self.dir.path().join(path)).is_ok()
    }
}

// GC-37
#[test]
fn paths_inside_the_base_directory_are_allowed() {
    let fixture = SandboxFixture::new();
    assert!(fixture.allows("box"));
    assert!(fixture.allows("box/sub"));
    assert!(fixture.allows("box/missing/child"));
    assert!(fixture.allows("box/sub/../sub"));
    assert!(!fixture.allows("box-evil"), "a sibling with the same prefix");
    assert!(!fixture.allows("box/../data"));
    assert!(!fixture.allows("box/../../../../../etc/passwd"));
    assert!(fixture.sandbox.check("relative").is_err());
    assert!(fixture.sandbox.check("/").is_err());
    assert!(fixture.sandbox.check("").is_err());
    assert!(fixture.sandbox.check("~/.SSH").is_err());
}

// GC-37
#[cfg(unix)]
#[test]
fn links_are_followed_before_the_decision() {
    let fixture = SandboxFixture::new();
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(target, fixture.dir.path().join("box").join(name)).unwrap();
    };
    link("../box-evil", "out");
    link("/etc", "etc");
    link("sub", "in");
    // A later write through a dangling link would create its target, so the target decides.
    link("../not-there-yet", "dangling");
    link("not-there-yet", "dangling-inside");
    link("dangling-inside/../../box-evil", "through-nothing");
    link("circle", "circle");
    assert!(!fixture.allows("box/out"));
    assert!(!fixture.allows("box/out/new-file"));
    assert!(!fixture.allows("box/etc/passwd"));
    assert!(fixture.allows("box/in"));
    assert!(!fixture.allows("box/dangling"));
    assert!(!fixture.allows("box/dangling/child"));
    assert!(fixture.allows("box/dangling-inside"));
    assert!(!fixture.allows("box/through-nothing"));
    assert!(!fixture.allows("box/circle"));
    assert!(!fixture.allows("box/circle/child"));
}

#[test]
fn unusual_names_stay_in_the_sandbox() {
    let fixture = SandboxFixture::new();
    assert!(!fixture.allows("box/a\0b"));
    assert!(fixture.sandbox.check("\0").is_err());
    for name in ["%2e%2e", "..%2f..%2fdata", "\u{ff0e}\u{ff0e}", "..\\..\\data", "...", ".. ", " "] {
        let checked = fixture.sandbox.check(fixture.dir.path().join("box").join(name)).unwrap();
        let base = fixture.dir.path().join("box").canonicalize().unwrap();
        assert_eq!(checked.canonical(), base.join(name), "a literal name");
    }
    assert!(fixture.allows(&format!("box/{}", "n".repeat(300))), "a name over NAME_MAX counts as missing");
    assert!(!fixture.allows(&format!("box/{}", "n/".repeat(4000))), "a path over PATH_MAX");
    assert!(!fixture.allows(&format!("box/{}", "../".repeat(4000))));
}

#[cfg(unix)]
#[test]
fn link_created_after_the_check_is_not_followed() {
    let fixture = SandboxFixture::new();
    let base = fixture.dir.path().join("box");
    std::fs::create_dir(base.join("denied")).unwrap();
    std::fs::write(base.join("denied/file"), "secret").unwrap();
    std::fs::write(fixture.dir.path().join("box-evil/file"), "secret").unwrap();
    std::fs::write(base.join("sub/file"), "fine").unwrap();
    let file = fixture.sandbox.check(base.join("sub/file")).unwrap();
    let new = fixture.sandbox.check(base.join("sub/new")).unwrap();
    assert!(file.open_file().is_ok());
    // The first target is outside of the base directory. The second one stays inside, where following it
    // could still reach a denied path.
    for target in ["../box-evil", "denied"] {
        std::fs::rename(base.join("sub"), base.join("aside")).unwrap();
        std::os::unix::fs::symlink(target, base.join("sub")).unwrap();
        assert!(escaped_via_symlink(&file.open_file().unwrap_err()), "{target}");
        assert!(escaped_via_symlink(&new.create_directory().unwrap_err()), "{target}");
        std::fs::remove_file(base.join("sub")).unwrap();
        std::fs::rename(base.join("aside"), base.join("sub")).unwrap();
    }
    assert!(!fixture.dir.path().join("box-evil/new").exists() && !base.join("denied/new").exists());
}

#[test]
fn deny_list_beats_the_sandbox() {
    let dir = tempfile::tempdir().unwrap();
    let overrides = Overrides { sandbox_base_directory: Some("/".into()), ..Overrides::default() };
    let store = Arc::new(SettingsStore::open(&dir.path().join("s.toml"), overrides).unwrap());
    let sandbox = Sandbox::new(store, dir.path());
    assert!(sandbox.check("/").is_ok());
    for path in ["/etc/hosts", "/ETC/hosts", "/bin/sh", "/usr/bin/env", "/proc/self/environ"] {
        assert!(sandbox.check(path).is_err(), "{path}");
    }
    assert!(sandbox.check(dir.path()).is_err(), "the data directory");
}

#[test]
fn data_directory_is_denied_for_every_base_directory() {
    // Start-up refuses overlapping directories; this covers a directory that was moved while the process
    // runs.
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("home/data");
    for name in ["src", "repository/.git/objects"] {
        std::fs::create_dir_all(data.join(name)).unwrap();
    }
    for name in ["objects", "refs"] {
        std::fs::create_dir_all(dir.path().join("home/.git").join(name)).unwrap();
    }
    std::fs::write(dir.path().join("home/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(data.join("vault.key"), "secret").unwrap();
    for base in ["home", "home/data", "home/data/src"] {
        let overrides =
            Overrides { sandbox_base_directory: Some(dir.path().join(base)), ..Overrides::default() };
        let store = SettingsStore::open(&dir.path().join("settings.toml"), overrides).unwrap();
        let sandbox = Sandbox::new(Arc::new(store), &data);
        for path in ["", "vault.key", "src", "src/new", "repository"] {
            assert!(sandbox.check(data.join(path)).is_err(), "{path} with {base}");
            assert!(sandbox.repository(&data.join(path)).is_err(), "{path} with {base}");
        }
        // Such a repository contains the data directory, so `git add` would stage the key.
        assert!(sandbox.repository(&dir.path().join("home")).is_err());
    }
}

// GC-37
#[test]
fn empty_sandbox_allows_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = SettingsStore::open(&dir.path().join("s.toml"), Overrides::default()).unwrap();
    assert!(Sandbox::new(Arc::new(store), dir.path()).check(dir.path().join("x")).is_err());
}

proptest! {
    #[test]
    fn allowed_paths_are_inside_the_sandbox(parts in proptest::collection::vec("(\\.\\.|\\.|[a-z]{1,3}|sub)", 0..8)) {
        let fixture = SandboxFixture::new();
        let path = fixture.dir.path().join("box").join(parts.join("/"));
        if let Ok(allowed) = fixture.sandbox.check(&path) {
            let base = fixture.dir.path().join("box").canonicalize().unwrap();
            prop_assert!(allowed.canonical().starts_with(base));
        }
    }
}
