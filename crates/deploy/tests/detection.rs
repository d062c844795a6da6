//! Detection of start commands in typical and in hostile trees.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a panic fails the test")]

use proptest::prelude::*;

use loopgate_deploy::{Candidate, Deployment, best, candidates, candidates_in};
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
            5000,
            ".venv/bin/python -m flask --app app run --port ${PORT:-5000}",
            &[("requirements.txt", "Flask==3\n"), ("app.py", "")],
        ),
        (
            "python",
            5000,
            "python3 -m flask --app app run",
            &[("app.py", "from flask import Flask\napp = Flask(__name__)\n")],
        ),
        ("python", 5000, "python3 main.py", &[("main.py", "from shop import app\napp.run(debug=True)\n")]),
        ("python", 8050, "python3 main.py", &[("main.py", "app.run(port=8050)\n")]),
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

const APP: &str = r#"{"scripts":{"dev":"vite"},"devDependencies":{"vite":"7"}}"#;
const SCRIPT: &str = r#"{"scripts":{"dev":"tsup --watch"}}"#;

/// Returns directory, command and install command of each candidate.
fn summary(candidates: &[Candidate]) -> Vec<(Option<&str>, &str, Option<&str>)> {
    candidates
        .iter()
        .map(|candidate| {
            let config = &candidate.config;
            (
                config.directory.as_deref(),
                config.command.as_deref().unwrap(),
                config.install_command.as_deref(),
            )
        })
        .collect()
}

// DL-48
#[test]
fn packages_of_a_workspace_use_the_package_manager_of_the_root() {
    for (lock, command, install) in [
        ("pnpm-lock.yaml", "pnpm dev", "pnpm install"),
        ("yarn.lock", "yarn dev", "yarn install"),
        ("package-lock.json", "npm run dev", "npm install"),
        ("bun.lock", "bun run dev", "bun install"),
    ] {
        let all = detect(&[
            ("package.json", r#"{"workspaces":["apps/*","packages/*"],"scripts":{"build":"turbo build"}}"#),
            (lock, ""),
            ("apps/api/package.json", SCRIPT),
            // A leftover of the time before the workspace.
            ("apps/web/package-lock.json", ""),
            ("apps/web/package.json", APP),
            ("packages/ui/package.json", SCRIPT),
            ("packages/ui/node_modules/vite/package.json", APP),
        ]);
        let expected = ["apps/web", "apps/api", "packages/ui"]
            .map(|directory| (Some(directory), command, Some(install)));
        assert_eq!(summary(&all), expected, "{lock}");
        assert!(all[0].reason.starts_with("apps/web: package.json has a `dev` script"), "{}", all[0].reason);
    }
}

// DL-48
#[test]
fn workspaces_of_pnpm_and_of_yarn_are_searched() {
    let declared = "packages:\n  - 'services/*'\n  - \"!services/old\"\n  - tools/site\n  - '../outside'\n";
    let all = detect(&[
        ("pnpm-workspace.yaml", declared),
        ("services/old/package.json", SCRIPT),
        ("services/shop/package.json", SCRIPT),
        ("services/.hidden/package.json", SCRIPT),
        ("tools/site/package.json", APP),
    ]);
    // Without a lock file, pnpm-workspace.yaml shows the package manager.
    let expected = ["tools/site", "services/shop"].map(|path| (Some(path), "pnpm dev", Some("pnpm install")));
    assert_eq!(summary(&all), expected);
    let all = detect(&[
        ("package.json", r#"{"packageManager":"yarn@1.22.0","workspaces":{"packages":["./sites/*/"]}}"#),
        ("yarn.lock", ""),
        ("sites/a/package.json", APP),
    ]);
    assert_eq!(summary(&all), [(Some("sites/a"), "yarn dev", Some("yarn install"))]);
    assert_eq!(all[0].config.package_manager.as_deref(), Some("yarn@1.22.0"));
}

// DL-48
#[test]
fn usual_directories_are_searched_after_the_root() {
    let files = [
        ("server/go.mod", ""),
        ("backend/requirements.txt", "fastapi\n"),
        ("backend/main.py", ""),
        ("backend/Dockerfile", "FROM x\n"),
        ("client/index.html", ""),
        ("web/package.json", SCRIPT),
        ("frontend/package.json", APP),
        ("frontend/yarn.lock", ""),
        ("package-lock.json", ""),
        ("docs/index.html", ""),
    ];
    let directories = |all: &[Candidate]| -> Vec<Option<String>> {
        all.iter().map(|candidate| candidate.config.directory.clone()).collect()
    };
    let expected = ["frontend", "backend", "web", "client"].map(|name| Some(name.to_owned()));
    let all = detect(&files);
    assert_eq!(directories(&all), expected);
    assert_eq!(all[0].config.command.as_deref(), Some("yarn dev"));
    assert_eq!(all[2].config.command.as_deref(), Some("npm run dev"));
    let with_root = detect(&[&files[..], &[("Makefile", "run:\n")]].concat());
    assert_eq!(directories(&with_root), [&[None][..], &expected].concat());
}

// DL-48
#[test]
fn one_directory_is_searched_on_request() {
    let files =
        [("package.json", NEXT), ("pnpm-lock.yaml", ""), ("sites/a/package.json", APP), ("x/index.html", "")];
    let dir = tree(&files);
    std::os::unix::fs::symlink(dir.path().join("sites"), dir.path().join("link")).unwrap();
    let root = Directory::of(dir.path()).unwrap();
    let found = candidates_in(&root, "sites/a");
    assert_eq!(summary(&found), [(Some("sites/a"), "pnpm dev", Some("pnpm install"))]);
    for outside in ["..", "sites/../sites/a", "/", "link/a", "missing"] {
        assert_eq!(candidates_in(&root, outside), [], "{outside}");
    }
    let stored = |path: &str| {
        let members = serde_json::json!({"directory": path});
        Deployment::read(members.as_object().unwrap()).directory
    };
    for (path, expected) in
        [("./sites/a/", Some("sites/a")), (".", None), ("./", None), (" ", None), ("/", Some("/"))]
    {
        assert_eq!(stored(path).as_deref(), expected, "{path}");
    }
}

// DL-44
#[test]
fn port_of_the_detection_is_a_hint_until_the_user_changes_it() {
    let detected = first(&[("package.json", NEXT)]);
    assert!(detected.has_detected_port());
    let mut stored = serde_json::Map::new();
    detected.merge_into(&mut stored);
    assert!(Deployment::read(&stored).has_detected_port());
    // The port is changed, while the health URL of the detection is still stored.
    stored.insert("port".to_owned(), 4000.into());
    let changed = Deployment::read(&stored).completed();
    assert!(!changed.has_detected_port());
    assert_eq!(changed.health_check_url.as_deref(), Some("http://localhost:4000"));
    // A health URL of the user is kept, also with the port of the detection.
    stored.insert("port".to_owned(), 3100.into());
    stored.insert("healthCheckUrl".to_owned(), "https://localhost:3100/ready".into());
    let changed = Deployment::read(&stored).completed();
    assert!(!changed.has_detected_port());
    assert_eq!(changed.health_check_url.as_deref(), Some("https://localhost:3100/ready"));
    // Entries of earlier versions do not say where their port comes from.
    stored.remove("detectedPort");
    stored.remove("healthCheckUrl");
    assert!(!Deployment::read(&stored).completed().has_detected_port());
}

#[test]
fn stored_settings_without_a_command_replace_detected_ones() {
    let detected = first(&[("package.json", NEXT)]);
    let stored = serde_json::json!({"port": 4000, "healthLogPattern": "ready", "startCommand": "pnpm start",
        "teardownCommand": "true", "additionalPorts": [4001]});
    let stored = Deployment::read(stored.as_object().unwrap());
    let merged = detected.clone().with_stored(stored).completed();
    assert_eq!((merged.port, merged.command.as_deref()), (Some(4000), Some("npm run dev")));
    assert_eq!(merged.health_check_url.as_deref(), Some("http://localhost:4000"));
    assert_eq!(
        (merged.health_log_pattern.as_deref(), merged.additional_ports.as_slice()),
        (Some("ready"), &[4001][..])
    );
    assert!(!merged.has_detected_port());
    // A port of an earlier detection does not replace that of the new one.
    let stored =
        serde_json::json!({"port": 3000, "detectedPort": 3000, "healthCheckUrl": "http://localhost:3000"});
    let stored = Deployment::read(stored.as_object().unwrap());
    assert_eq!(detected.clone().with_stored(stored).completed(), detected);
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
