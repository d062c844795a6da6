//! Arbitrary archives: each is rejected as a whole, or unpacked into regular files and directories.
#![no_main]

use std::io::{Seek as _, Write as _};
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use libfuzzer_sys::fuzz_target;
use loopgate_files::RunDir;

/// Upper bound for the unpacked size of an archive as small as the fuzzer's inputs.
const MAX_UNPACKED_BYTES: u64 = 64 * 1024 * 1024;

/// Temporary directory of this process, into which archives are unpacked.
static DIRECTORY: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    // Sound: no other thread exists yet that could read the environment.
    unsafe { std::env::set_var("TMPDIR", dir.path()) };
    dir
});

/// Sums up the sizes of the files below a directory. Fails for entries that are neither files nor
/// directories.
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
    let directory = DIRECTORY.path();
    let mut file = tempfile::tempfile_in(directory).unwrap();
    file.write_all(archive).unwrap();
    file.rewind().unwrap();
    let unpacked = RunDir::unpack(&file, &AtomicBool::new(false));
    let remaining: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    match unpacked {
        Ok(run) => {
            assert_eq!(remaining, [run.path()]);
            assert!(size_of(&run.path()) <= MAX_UNPACKED_BYTES);
            let files = run.files().unwrap().unwrap();
            assert!(!files.is_empty() && files.iter().all(|file| !file.split('/').any(|part| part == "..")));
            // A client passes the path back in later requests.
            assert_eq!(RunDir::parse(run.path().to_str().unwrap()), Some(run.clone()));
            run.remove().unwrap();
        }
        // A rejected archive leaves no partially unpacked files behind.
        Err(_) => assert!(remaining.is_empty(), "{remaining:?}"),
    }
});
