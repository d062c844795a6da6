//! Detection of start commands in typical and in hostile trees.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a panic fails the test")]

use proptest::prelude::*;

use loopgate_deploy::{Candidate, Deployment, best, candidates};
use loopgate_home::Directory;

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    dir
}

fn detect(files: &[(&str, &str)]) -> Vec<Candidate> {
    let dir = tree(files);
    candidates(&Directory::of(dir.path()).unwrap())
}

fn first(files: &[(&str, &str)]) -> Deployment {
    detect(files).remove(0).config
}

const NEXT: &str = r#"{"scripts":{"dev":"next dev -p 3100"},"dependencies":{"next":"15"}}"#;

// DL-01
#[test]
fn next_project_is_detected_with_its_port() {
    let config = first(&[("package.json", NEXT)]);
    assert_eq!((config.framework.as_deref(), config.port), (Some("next"), Some(3100)));
    assert_eq!((config.kind.as_deref(), config.health_endpoint.as_deref()), (Some("next"), Some("/")));
    assert_eq!(config.health_check_url.as_deref(), Some("http://localhost:3100"));
}

// DL-02
#[test]
fn lock_file_determines_the_package_manager() {
    for (lock, command, install) in [
        ("yarn.lock", "yarn dev", "yarn install"),
        ("pnpm-lock.yaml", "pnpm dev", "pnpm install"),
        ("bun.lock", "bun run dev", "bun install"),
        ("other", "npm run dev", "npm install"),
    ] {
        let config = first(&[("package.json", NEXT), (lock, "")]);
        assert_eq!(config.command.as_deref(), Some(command));
        assert_eq!(config.start_command, config.command);
        assert_eq!(config.install_command.as_deref(), Some(install));
    }
    let with_manager = r#"{"packageManager":"pnpm@9.1.0","scripts":{"start":"x"}}"#;
    let config = first(&[("package.json", with_manager)]);
    assert_eq!(config.package_manager.as_deref(), Some("pnpm@9.1.0"));
    assert_eq!(config.install_command.as_deref(), Some("pnpm install"));
}

// DL-03
#[test]
fn project_without_a_script_has_no_candidate() {
    assert_eq!(first(&[("package.json", r#"{"scripts":{"start":"x"}}"#)]).command.unwrap(), "npm run start");
    for manifest in [r#"{"scripts":{}}"#, r#"{"scripts":{"dev":1}}"#, "{", "[]"] {
        assert_eq!(detect(&[("package.json", manifest)]), []);
    }
    assert_eq!(detect(&[]), []);
}

// DL-04
#[test]
fn port_is_taken_from_the_script_or_the_frameworks_default() {
    for (dev, dependency, port) in [
        ("vite", "vite", 5173),
        ("node .", "express", 3000),
        ("vite --port=4000", "vite", 4000),
        ("PORT=4100 node .", "express", 4100),
        ("next dev --port 4200", "next", 4200),
        ("x --port 99999", "express", 3000),
    ] {
        let manifest = serde_json::json!({"scripts": {"dev": dev}, "devDependencies": {dependency: "1"}});
        assert_eq!(first(&[("package.json", &manifest.to_string())]).port, Some(port), "{dev}");
    }
}

#[test]
fn every_kind_of_project_is_detected() {
    for (kind, port, command, files) in [
        ("procfile", 5000, "Procfile", &[("Procfile", "worker: a\nweb: ./serve\n")][..]),
        ("python", 8000, "python3 manage.py runserver ${PORT:-8000}", &[("manage.py", "")]),
        (
            "python",
            8000,
            ".venv/bin/python -m flask --app app run --port ${PORT:-8000}",
            &[("requirements.txt", "Flask==3\n"), ("app.py", "")],
        ),
        (
            "python",
            8123,
            "python3 server.py",
            &[(
                "server.py",
                "import os\nfrom http.server import *\nport = int(os.environ.get(\"PORT\", 8123))\n",
            )],
        ),
        (
            "cargo",
            7000,
            "cargo run",
            &[
                ("Cargo.toml", "[package]\nname = \"x\"\n"),
                ("src/main.rs", "fn main() { bind(\"127.0.0.1:7000\") }"),
            ],
        ),
        (
            "compose",
            8081,
            "compose up",
            &[("compose.yaml", "services:\n  a:\n    ports:\n      - \"127.0.0.1:8081:80\"\n")],
        ),
        ("dockerfile", 9000, ":9000\"", &[("Dockerfile", "FROM x\nexpose 9000/tcp\n")]),
        ("make", 8080, "make serve", &[("Makefile", "RUN := x\nall: serve\nserve: all\n\techo\n")]),
        ("static", 8000, "--directory public", &[("public/index.html", "<p>")]),
    ] {
        let config = first(files);
        assert_eq!((config.kind.as_deref(), config.port), (Some(kind), Some(port)), "{config:?}");
        assert!(config.command.as_deref().unwrap().contains(command), "{config:?}");
    }
}

#[test]
fn scripts_rank_above_container_builds() {
    let all = detect(&[
        ("index.html", ""),
        ("Makefile", "run:\n"),
        ("Dockerfile", "FROM x"),
        ("compose.yaml", "services: {}"),
        ("Procfile", "web: x"),
        ("package.json", NEXT),
    ]);
    let kinds = |all: &[Candidate]| -> Vec<String> {
        all.iter().filter_map(|candidate| candidate.config.kind.clone()).collect()
    };
    assert_eq!(kinds(&all), ["next", "procfile", "compose", "dockerfile", "make", "static"]);
    assert_eq!(kinds(&best(all.clone(), true)), kinds(&all));
    assert_eq!(
        kinds(&best(all.clone(), false)),
        ["next", "procfile", "make", "static", "compose", "dockerfile"]
    );
    assert!(all.iter().all(|candidate| !candidate.reason.is_empty()));
}

#[test]
fn links_directories_and_pipes_are_not_read() {
    let secret = tree(&[("package.json", NEXT)]);
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(secret.path().join("package.json"), dir.path().join("package.json")).unwrap();
    // A directory, a link and a named pipe: reading the pipe would block.
    std::fs::create_dir(dir.path().join("Makefile")).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, dir.path().join("Procfile"), mode).unwrap();
    assert_eq!(candidates(&Directory::of(dir.path()).unwrap()), []);
}

proptest! {
    #[test]
    fn manifest_text_is_never_part_of_a_command(text in "[a-z;$`|&\"'()\\\\ \n/.]{0,60}") {
        // The text may form a name or a number, which commands may contain; anything else must not appear in
        // a command.
        let marked = format!("zzq{text}zzq");
        let package = serde_json::json!({
            "packageManager": marked,
            "scripts": {"dev": marked, "start": marked},
            "dependencies": {marked.as_str(): marked},
        });
        let cargo = format!("[package]\nname = {0}\ndefault-run = {0}\n", serde_json::json!(marked));
        let all = detect(&[
            ("package.json", &package.to_string()),
            ("Procfile", &format!("web: {marked}")),
            ("Cargo.toml", &cargo),
            ("src/main.rs", &marked),
            ("Dockerfile", &format!("FROM {marked}\nEXPOSE {marked}")),
            ("compose.yaml", &format!("ports:\n - {marked}:{marked}")),
            ("Makefile", &format!("{marked}:\nrun: {marked}")),
            ("app.py", &format!("PORT {marked}")),
        ]);
        prop_assert!(all.len() >= 5, "{all:?}");
        for candidate in all {
            let command = candidate.config.command.unwrap();
            let is_name = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'.');
            prop_assert!(is_name || !command.contains("zzq"), "{command}");
            prop_assert!(candidate.config.install_command.is_none_or(|install| !install.contains("zzq")));
        }
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), file in 0usize..9) {
        let names = ["package.json", "Procfile", "Cargo.toml", "Dockerfile", "compose.yaml", "Makefile",
            "app.py", "requirements.txt", "index.html"];
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(names[file]), bytes).unwrap();
        for candidate in candidates(&Directory::of(dir.path()).unwrap()) {
            prop_assert!(candidate.config.port != Some(0) && candidate.config.command.is_some());
        }
    }
}
