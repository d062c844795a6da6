//! `loopgate control-plane backup` and `restore`: database, secrets and stored files in one directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use loopgate_control_plane::{Administration, AdministrationError};
use loopgate_home::files;
use serde::{Deserialize, Serialize};

use super::DatabaseArgs;
use crate::args::HomeArgs;
use crate::commands;
use crate::embedded::{DATABASE_FILE, SECRETS_FILE, STORAGE_DIR, existing_database};

/// Name of the file that describes a backup. It is written last: a backup without it is incomplete.
const DESCRIPTION_FILE: &str = "backup.json";

/// Copy the database, the secrets and the stored files, also while the control plane runs.
///
/// A PostgreSQL database is backed up with pg_dump. Run pg_dump first and then this command with
/// --without-database, which copies the secrets and the stored files.
#[derive(Debug, Args)]
pub struct BackupArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// Directory of the backup. Must not exist yet.
    #[arg(value_name = "DIR")]
    to: PathBuf,
    /// Copy only the secrets and the stored files.
    #[arg(long)]
    without_database: bool,
}

/// Restore a backup into an empty data directory.
///
/// A PostgreSQL database is restored with pg_restore.
#[derive(Debug, Args)]
pub struct RestoreBackupArgs {
    #[command(flatten)]
    home: HomeArgs,
    /// Directory of the backup.
    #[arg(value_name = "DIR")]
    from: PathBuf,
}

/// Content of the description of a backup.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct BackupDescription {
    /// Version of the program that wrote it.
    version: String,
    /// Time in ISO 8601.
    created_at: String,
    /// Whether it contains the database.
    has_database: bool,
}

impl BackupArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let to = std::path::absolute(&self.to)?;
        anyhow::ensure!(!to.exists(), "{} already exists; choose another directory", to.display());
        let dir = self.database.data_dir()?;
        let secrets = dir.join(SECRETS_FILE);
        anyhow::ensure!(
            secrets.exists(),
            "{} does not exist; choose the data directory of the control plane with --home",
            secrets.display()
        );
        files::create_private_dir(&to).with_context(|| format!("cannot create {}", to.display()))?;
        if !self.without_database {
            self.copy_database(&to.join(DATABASE_FILE))?;
        }
        // After the database: files that are added in between belong to no row of the copy, which is harmless.
        copy_file(&secrets, &to.join(SECRETS_FILE))?;
        copy_tree(&dir.join(STORAGE_DIR), &to.join(STORAGE_DIR))?;
        let description = BackupDescription {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            created_at: loopgate_api::time::now_iso(),
            has_database: !self.without_database,
        };
        files::write_private(&to.join(DESCRIPTION_FILE), &serde_json::to_vec_pretty(&description)?)?;
        println!(
            "Backup written to {}. It contains secrets: keep it as safe as the data directory.",
            to.display()
        );
        Ok(ExitCode::SUCCESS)
    }

    fn copy_database(&self, to: &Path) -> anyhow::Result<()> {
        commands::block_on(async {
            let administration = Administration::open(&self.database.url()?).await?;
            let copied = administration.copy_database(to).await;
            administration.close().await?;
            match copied {
                Err(error @ AdministrationError::NotSqlite) => Err(anyhow::Error::new(error).context(
                    "run pg_dump first and then this command with --without-database, which copies the secrets and \
                     the stored files",
                )),
                other => other.context("cannot copy the database"),
            }
        })?;
        files::make_private(to)?;
        Ok(fs::File::open(to)?.sync_all()?)
    }
}

impl RestoreBackupArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let from = &self.from;
        let description = fs::read(from.join(DESCRIPTION_FILE)).with_context(|| {
            format!("{} is not a complete backup: it has no {DESCRIPTION_FILE}", from.display())
        })?;
        let description: BackupDescription =
            serde_json::from_slice(&description).with_context(|| format!("{DESCRIPTION_FILE} is damaged"))?;
        // Holds the lock: a running control plane must not lose its database.
        let dir = loopgate_home::DataDir::open(&self.home.data_dir()?)?;
        for name in [DATABASE_FILE, SECRETS_FILE, STORAGE_DIR] {
            let existing = dir.file(name);
            anyhow::ensure!(
                !existing.exists(),
                "{} already exists; restore into an empty data directory (--home)",
                existing.display()
            );
        }
        if description.has_database {
            let database = dir.file(DATABASE_FILE);
            copy_file(&from.join(DATABASE_FILE), &database)?;
            let check = commands::block_on(async {
                Ok(Administration::check_file(&existing_database(&database)).await?)
            });
            if check.is_err() {
                // The next attempt needs an empty data directory, and SQLite would apply a log that is left.
                for suffix in ["", "-wal", "-shm"] {
                    let _ = fs::remove_file(dir.file(&format!("{DATABASE_FILE}{suffix}")));
                }
            }
            check.with_context(|| format!("cannot restore {}", from.join(DATABASE_FILE).display()))?;
        }
        copy_tree(&from.join(STORAGE_DIR), &dir.file(STORAGE_DIR))?;
        // Last: a start without the secrets fails, so an interrupted restore is noticed.
        copy_file(&from.join(SECRETS_FILE), &dir.file(SECRETS_FILE))?;
        println!("Restored the backup of {} to {}.", description.created_at, dir.path().display());
        if !description.has_database {
            println!("It contains no database: restore that with pg_restore.");
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Copies a file with permissions for its owner only, and flushes it to the disk.
fn copy_file(from: &Path, to: &Path) -> anyhow::Result<()> {
    let copy = || {
        files::make_private(to)?;
        fs::copy(from, to)?;
        files::make_private(to)?;
        fs::File::open(to)?.sync_all()
    };
    copy().with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

/// Copies the regular files of a directory. A missing directory is treated as empty.
fn copy_tree(from: &Path, to: &Path) -> anyhow::Result<()> {
    if !from.exists() {
        return Ok(());
    }
    files::create_private_dir(to).with_context(|| format!("cannot create {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_tree(&source, &target)?;
        } else if kind.is_file() {
            match copy_file(&source, &target) {
                // A temporary file that was renamed in between; its object is complete under the other name, or
                // was not stored yet.
                Err(_) if !source.exists() => drop(fs::remove_file(&target)),
                other => other?,
            }
        }
    }
    Ok(())
}
