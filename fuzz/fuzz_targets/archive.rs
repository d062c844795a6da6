//! Any archive: it is refused whole, or unpacked into plain files and directories of its own.
#![no_main]

use std::io::{Seek as _, Write as _};
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use libfuzzer_sys::fuzz_target;
use loopgate_files::RunDir;

/// Bytes that may lie unpacked for each byte of an archive this small.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Where runs are unpacked to: a directory of this process.
static PLACE: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    // Nothing else runs yet that could read the environment.
    unsafe { std::env::set_var("TMPDIR", dir.path()) };
    dir
});

/// Bytes below a directory; what is neither file nor directory fails.
fn size_of(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let size = |entry: std::fs::DirEntry| {
        let metadata = entry.path().symlink_metadata().unwrap();
        assert!(metadata.is_dir() || metadata.is_file(), "{:?}", entry.path());
        if metadata.is_dir() { size_of(&entry.path()) } else { metadata.len() }
    };
    entries.map(size).sum()
}

fuzz_target!(|archive: &[u8]| {
    let place = PLACE.path();
    let mut file = tempfile::tempfile_in(place).unwrap();
    file.write_all(archive).unwrap();
    file.rewind().unwrap();
    let unpacked = RunDir::unpack(&file, &AtomicBool::new(false));
    let left: Vec<_> = std::fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()).collect();
    match unpacked {
        Ok(run) => {
            assert_eq!(left, [run.path()]);
            assert!(size_of(&run.path()) <= MOST_BYTES);
            let files = run.files().unwrap().unwrap();
            assert!(!files.is_empty() && files.iter().all(|file| !file.split('/').any(|part| part == "..")));
            assert_eq!(RunDir::parse(run.path().to_str().unwrap()), Some(run.clone()));
            run.remove().unwrap();
        }
        Err(_) => assert!(left.is_empty(), "{left:?}"),
    }
});
