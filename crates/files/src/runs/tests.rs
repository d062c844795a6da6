//! Valid and malicious archives, and recognition of run directories.

use std::io::{Cursor, Seek as _, Write as _};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    file
}

fn zipped(write: impl FnOnce(&mut ZipWriter<Cursor<Vec<u8>>>)) -> File {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    write(&mut writer);
    file(&writer.finish().unwrap().into_inner())
}

fn options() -> SimpleFileOptions {
    SimpleFileOptions::default()
}

fn unpack(file: &File) -> Result<RunDir, RunError> {
    RunDir::unpack(file, &AtomicBool::new(false))
}

fn refusal(file: &File) -> String {
    unpack(file).unwrap_err().to_string()
}

#[test]
fn extracted_files_are_private() {
    let run = unpack(&zipped(|zip| {
        zip.start_file("nested/trace.log", options().unix_permissions(0o777)).unwrap();
        zip.write_all(b"trace").unwrap();
        zip.add_directory("empty", options()).unwrap();
        zip.start_file("state.json", options()).unwrap();
        zip.write_all(b"{}").unwrap();
        zip.start_file("__MACOSX/x", options()).unwrap();
        zip.start_file("./nested/.DS_Store", options()).unwrap();
    }))
    .unwrap();
    assert_eq!(run.files().unwrap().unwrap(), ["nested/trace.log", "state.json"]);
    assert_eq!(std::fs::read(run.path().join("nested/trace.log")).unwrap(), b"trace");
    #[cfg(unix)]
    for (name, expected) in [("", 0o700), ("nested", 0o700), ("nested/trace.log", 0o600)] {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = run.path().join(name).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, expected, "{name}");
    }
    assert_eq!(RunDir::parse(run.path().to_str().unwrap()), Some(run.clone()));
    run.remove().unwrap();
    assert_eq!(run.files().unwrap(), None);
    run.remove().unwrap();
}

#[test]
fn archive_with_unsafe_paths_or_links_is_rejected() {
    for name in ["../evil", "a/../../evil", "/etc/evil", "C:/evil", "C:evil", "a\\..\\evil", "a\0b", ".."] {
        let archive = zipped(|zip| {
            zip.start_file("fine", options()).unwrap();
            zip.start_file(name, options()).unwrap();
        });
        assert_eq!(refusal(&archive), "Invalid zip file", "{name:?}");
    }
    let link = zipped(|zip| zip.add_symlink("link", "/etc/passwd", options()).unwrap());
    assert_eq!(refusal(&link), "Invalid zip file");
    let below_a_file = zipped(|zip| {
        zip.start_file("a", options()).unwrap();
        zip.start_file("a/b", options()).unwrap();
    });
    assert_eq!(refusal(&below_a_file), "Invalid zip file");
}

#[test]
fn damaged_and_empty_archives_are_distinguished() {
    assert_eq!(refusal(&file(b"no archive")), "No zip file provided");
    assert_eq!(refusal(&file(b"")), "No zip file provided");
    assert_eq!(refusal(&file(b"PK\x03\x04 and then nothing")), "Invalid zip file");
    assert_eq!(refusal(&zipped(|_| {})), "Zip contains no files");
    assert_eq!(refusal(&zipped(|zip| zip.add_directory("a", options()).unwrap())), "Zip contains no files");
    let mut bytes = Vec::new();
    let mut whole = zipped(|zip| {
        zip.start_file("a", options()).unwrap();
        zip.write_all(&[7; 1000]).unwrap();
    });
    io::Read::read_to_end(&mut whole, &mut bytes).unwrap();
    // Byte 34 is in the compressed data, after the 30-byte header and the name.
    bytes[34] ^= 0xff;
    assert_eq!(refusal(&file(&bytes)), "Invalid zip file", "checksum mismatch");
}

#[test]
fn archive_over_a_limit_is_rejected() {
    let many = zipped(|zip| {
        for n in 0..=20_000 {
            zip.start_file(n.to_string(), options()).unwrap();
        }
    });
    assert_eq!(refusal(&many), "Zip contents too large");
    let bomb = zipped(|zip| {
        zip.start_file("zeros", options()).unwrap();
        for _ in 0..70 {
            zip.write_all(&vec![0; 1024 * 1024]).unwrap();
        }
    });
    assert_eq!(refusal(&bomb), "Zip contents too large", "compression ratio of about 1000");
    // A request that was dropped sets the flag.
    let cancelled = AtomicBool::new(true);
    let one = zipped(|zip| zip.start_file("a", options()).unwrap());
    assert_eq!(RunDir::unpack(&one, &cancelled).unwrap_err().to_string(), "Unpacking took too long");
}

#[test]
fn only_a_run_directory_is_parsed_as_run() {
    let dir = tempfile::tempdir().unwrap();
    let parent = dir.path();
    std::fs::create_dir(parent.join("run-viewer-1")).unwrap();
    std::fs::write(parent.join("run-viewer-file"), "").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("run-viewer-1", parent.join("run-viewer-link")).unwrap();
    let parse = |rest: &str| RunDir::parse_in(parent, &format!("{}/{rest}", parent.display()));
    for name in ["run-viewer-1", "run-viewer-missing"] {
        assert_eq!(parse(name).unwrap().path(), parent.join(name));
    }
    let long = format!("run-viewer-{}", "x".repeat(220));
    let invalid = [
        "",
        "run-viewer-",
        "run-viewer-1/sub",
        "run-viewer-x/../y",
        "../run-viewer-1",
        "run-viewer-upload-1",
        "run-viewer-upload-1.zip",
        "run-viewer-file",
        "run-viewer-link",
        "other",
        "run-viewer-\0",
        &long,
    ];
    for name in invalid {
        assert_eq!(parse(name), None, "{name}");
    }
    assert_eq!(RunDir::parse_in(parent, "run-viewer-1"), None);
    assert_eq!(RunDir::parse_in(parent, "/etc"), None);
}

#[test]
fn only_expired_runs_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    let old = SystemTime::now() - MAX_AGE - Duration::from_secs(60);
    for (name, touched) in [("run-viewer-old", old), ("run-viewer-new", SystemTime::now()), ("other", old)] {
        let path = dir.path().join(name);
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("file"), "").unwrap();
        File::open(&path).unwrap().set_modified(touched).unwrap();
    }
    RunDir::remove_stale_in(dir.path(), SystemTime::now());
    let mut remaining: Vec<_> =
        std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    remaining.sort();
    assert_eq!(remaining, ["other", "run-viewer-new"]);
}
