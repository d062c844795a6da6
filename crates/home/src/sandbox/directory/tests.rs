//! Directory handles while entries are swapped by another process.
#![cfg(unix)]

use std::io::Read as _;
use std::os::unix::fs::symlink;

use super::*;

fn fixture() -> (tempfile::TempDir, Directory) {
    let dir = tempfile::tempdir().unwrap();
    for name in ["box/sub/deep", "out"] {
        std::fs::create_dir_all(dir.path().join(name)).unwrap();
    }
    for name in ["box/sub/deep/file", "out/file"] {
        std::fs::write(dir.path().join(name), name).unwrap();
    }
    let handle = Directory::of(&dir.path().join("box")).unwrap();
    (dir, handle)
}

fn content(mut file: File) -> String {
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn only_paths_below_the_directory_are_opened() {
    let (_dir, handle) = fixture();
    assert_eq!(content(handle.open_file(Path::new("sub/deep/file")).unwrap()), "box/sub/deep/file");
    assert_eq!(
        content(handle.directory(Path::new("sub")).unwrap().open_file(Path::new("deep/file")).unwrap()),
        "box/sub/deep/file"
    );
    for path in ["../out/file", "/etc/passwd", "sub/../../out/file", "./sub/../sub"] {
        let error = handle.open_file(Path::new(path)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{path}");
    }
    for path in ["sub", "missing", "sub/deep/file/x"] {
        assert!(handle.open_file(Path::new(path)).is_err(), "{path}");
    }
}

#[test]
fn swapped_in_link_is_not_followed() {
    let (dir, handle) = fixture();
    let base = dir.path().join("box");
    // All of these links point to files that exist, and two stay inside the directory, so only the refusal to
    // follow links can make the open fail.
    symlink(dir.path().join("out/file"), base.join("file-out")).unwrap();
    symlink("sub/deep/file", base.join("file-in")).unwrap();
    symlink("../out", base.join("dir-out")).unwrap();
    symlink("sub", base.join("dir-in")).unwrap();
    for path in ["file-out", "file-in", "dir-out/file", "dir-in/deep/file"] {
        let with_openat2 = handle.open_file(Path::new(path)).unwrap_err();
        // The fallback for kernels without `openat2` must agree with it.
        let with_openat = handle.0.open_file_by_component(Path::new(path)).unwrap_err();
        assert!(escaped_via_symlink(&with_openat2), "{path}: {with_openat2}");
        assert!(escaped_via_symlink(&with_openat), "{path}: {with_openat}");
    }
    assert!(escaped_via_symlink(&handle.create_directory(Path::new("dir-out/new")).unwrap_err()));
    assert!(!dir.path().join("out/new").exists());
    assert_eq!(
        content(handle.0.open_file_by_component(Path::new("sub/deep/file")).unwrap()),
        "box/sub/deep/file"
    );
}

#[test]
fn handle_follows_its_renamed_directory() {
    let (dir, handle) = fixture();
    std::fs::rename(dir.path().join("box"), dir.path().join("moved")).unwrap();
    // The old path now leads to `out`; the handle must not.
    symlink("out", dir.path().join("box")).unwrap();
    assert_eq!(content(handle.open_file(Path::new("sub/deep/file")).unwrap()), "box/sub/deep/file");
    assert!(handle.open_file(Path::new("file")).is_err());
}

#[test]
fn pipe_is_refused_without_blocking() {
    let (dir, handle) = fixture();
    let pipe = dir.path().join("box/pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    assert_eq!(handle.open_file(Path::new("pipe")).unwrap_err().kind(), io::ErrorKind::NotFound);
    assert_eq!(handle.kind(Path::new("pipe")), Some(EntryKind::Other));
}

#[test]
fn file_is_read_up_to_its_limit() {
    let (_dir, handle) = fixture();
    let path = Path::new("sub/deep/file");
    assert_eq!(handle.read(path, 17).unwrap(), b"box/sub/deep/file");
    assert_eq!(handle.read(path, 16).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
}

#[test]
fn directory_entries_have_their_kind() {
    let (dir, handle) = fixture();
    symlink("nowhere", dir.path().join("box/link")).unwrap();
    std::fs::write(dir.path().join("box/plain"), "").unwrap();
    let mut entries = handle.entries().unwrap();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    let kinds: Vec<_> = entries.iter().map(|entry| (entry.name.to_str().unwrap(), entry.kind)).collect();
    assert_eq!(kinds, [("link", EntryKind::Link), ("plain", EntryKind::File), ("sub", EntryKind::Directory)]);
    assert_eq!(handle.kind(Path::new("sub/deep/file")), Some(EntryKind::File));
    assert_eq!(handle.kind(Path::new("link")), Some(EntryKind::Link));
    assert_eq!(handle.kind(Path::new("link/x")), None);
    symlink("sub", dir.path().join("box/inside")).unwrap();
    for (path, exists) in [
        ("sub", true),
        ("sub/deep/file", true),
        ("link", true),
        ("none", false),
        ("sub/none", false),
        ("link/x", false),
        ("inside/deep", false),
        ("plain/x", false),
        ("../out", false),
    ] {
        assert_eq!(handle.exists(Path::new(path)), exists, "{path}");
        assert!(exists || handle.kind(Path::new(path)).is_none(), "{path}");
    }
}

#[test]
fn new_file_appears_whole_or_not_at_all() {
    struct Broken(&'static [u8]);
    impl Read for Broken {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(io::Error::other("read failed")),
                read => Ok(read),
            }
        }
    }
    let (dir, handle) = fixture();
    let new = handle.create_directory(Path::new("new/er")).unwrap();
    assert_eq!(new.write_new(OsStr::new("a"), &mut &b"text"[..]).unwrap(), 4);
    assert_eq!(std::fs::read(dir.path().join("box/new/er/a")).unwrap(), b"text");
    let taken = new.write_new(OsStr::new("a"), &mut &b"other"[..]).unwrap_err();
    assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
    // The source fails in the middle of the content.
    assert!(new.write_new(OsStr::new("b"), &mut Broken(b"half")).is_err());
    assert!(new.write_new(OsStr::new("../b"), &mut &b""[..]).is_err());
    assert_eq!(new.entries().unwrap(), [DirEntry { name: "a".into(), kind: EntryKind::File }]);
}
