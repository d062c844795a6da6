//! Links and pipes in a working tree are not followed and do not block.
#![cfg(unix)]

use std::io::Write as _;
use std::os::unix::fs::symlink;

use super::*;

#[test]
fn path_is_split_at_its_working_tree() {
    for (path, root, below) in [
        ("/a/shop/.loopgate/work/plan.json", "/a/shop", ".loopgate/work/plan.json"),
        ("/a/shop/.loopgate/work/.loopgate/plan.lock", "/a/shop", ".loopgate/work/.loopgate/plan.lock"),
        ("/h/.loopgate/worktrees/x/.loopgate/work", "/h/.loopgate/worktrees/x", ".loopgate/work"),
        ("/a/shop/prd.md", "/a/shop", "prd.md"),
        (".loopgate/work/plan.json", ".", ".loopgate/work/plan.json"),
        ("prd.md", ".", "prd.md"),
    ] {
        assert_eq!(split(Path::new(path)), (Path::new(root), Path::new(below)), "{path}");
    }
}

/// Creates a working tree in which `link` is a symbolic link to a directory outside of it.
fn linked(link: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let outside = dir.path().join("outside");
    std::fs::create_dir_all(outside.join("work")).unwrap();
    for name in ["secret", "work/secret"] {
        std::fs::write(outside.join(name), "private").unwrap();
    }
    let link = dir.path().join("tree").join(link);
    std::fs::create_dir_all(link.parent().unwrap()).unwrap();
    let target = if link.ends_with("work") { outside.join("work") } else { outside };
    symlink(target, link).unwrap();
    dir
}

#[test]
fn nothing_is_read_or_written_through_a_link() {
    for link in [".loopgate", ".loopgate/work"] {
        let dir = linked(link);
        let work = dir.path().join("tree/.loopgate/work");
        // Without this check a broken fixture would make every access below fail for the wrong reason.
        assert!(work.join("secret").is_file(), "reachable through the link");
        let secret = work.join("secret");
        assert!(read(&secret, 100).is_err() && metadata(&secret).is_err() && !is_file(&secret), "{link}");
        assert!(entries(&work).is_empty() && make_private_directory(&work.join("new")).is_err());
        for name in ["secret", "new"] {
            let path = work.join(name);
            assert!(write(&path, b"x").is_err() && write_private(&path, b"x").is_err(), "{link}");
            assert!(append(&path).is_err() && remove(&path).is_err(), "{link}");
            assert!(rename(&path, OsStr::new("other")).is_err(), "{link}");
        }
        let outside = dir.path().join("outside/work");
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
        assert_eq!(std::fs::read_to_string(outside.join("secret")).unwrap(), "private");
    }
}

#[test]
fn writing_replaces_a_symlink_and_leaves_its_target() {
    let dir = linked("unused");
    let (secret, file) =
        (dir.path().join("outside/secret"), dir.path().join("tree/.loopgate/work/plan.json"));
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    symlink(&secret, &file).unwrap();
    assert!(read(&file, 100).is_err() && append(&file).is_err());
    write_private(&file, b"ours").unwrap();
    assert_eq!(read_text(&file).unwrap(), "ours");
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "private");
    append(&file).unwrap().write_all(b" too").unwrap();
    assert_eq!(read_text(&file).unwrap(), "ours too");
    assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn pipes_and_devices_do_not_block() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("state.json");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    assert!(read(&pipe, 100).is_err() && open(&pipe).is_err() && append(&pipe).is_err() && !is_file(&pipe));
    // A rename replaces the pipe without opening it.
    write(&pipe, b"{}").unwrap();
    assert_eq!(read_json::<serde_json::Value>(&pipe), Some(serde_json::json!({})));
    // A device never ends, so reading it without the check would fill the memory.
    assert!(open(Path::new("/dev/zero")).is_err());
    std::fs::write(&pipe, [b'x'; 101]).unwrap();
    assert_eq!(read(&pipe, 100).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
}

#[test]
fn concurrent_writers_leave_one_complete_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.json");
    std::thread::scope(|scope| {
        for n in 0..8_u8 {
            let path = &path;
            scope.spawn(move || (0..50).for_each(|_| write(path, &[b'a' + n; 5000]).unwrap()));
        }
    });
    // A mixture of two writers' bytes would show that they shared a temporary file.
    let text = read(&path, 10_000).unwrap();
    assert!(text.len() == 5000 && text.iter().all(|byte| *byte == text[0]));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}
