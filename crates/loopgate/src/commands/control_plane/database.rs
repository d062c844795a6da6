//! Sub-commands for the database as a whole.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use loopgate_control_plane::{check_database, migrate, missing_migrations};

use super::DatabaseArgs;
use crate::commands;

/// Milliseconds by which the clocks of this machine and the database may differ. Times of sessions, links and launches
/// are compared across instances.
const CLOCK_TOLERANCE: u64 = 1_000;

/// Check the database: connection, migrations, times of statements, and clock.
///
/// Writes and deletes a row. Exits with 1 when something is wrong.
#[derive(Debug, Args)]
pub struct DatabaseCheckArgs {
    #[command(flatten)]
    database: DatabaseArgs,
}

/// Apply the migrations of this version to the database.
///
/// A control plane does this at its start. Before an upgrade, it can be done apart from that.
#[derive(Debug, Args)]
pub struct MigrateArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// Only list the missing migrations, and exit with 1 when there are any.
    #[arg(long)]
    check: bool,
}

impl DatabaseCheckArgs {
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let check = commands::block_on(async { Ok(check_database(&self.database.url()?).await?) })?;
        println!("database    {}", check.engine);
        println!("schema      {}", check.obstacle.as_deref().unwrap_or("usable by this version"));
        println!("round trip  {}", milliseconds(check.round_trip));
        if let Some(commit) = check.commit {
            println!("commit      {}", milliseconds(commit));
        }
        let is_clock_off = check.clock_ahead.unsigned_abs() > CLOCK_TOLERANCE;
        if is_clock_off {
            let seconds = check.clock_ahead.unsigned_abs().div_euclid(1_000);
            let direction = if check.clock_ahead > 0 { "ahead of" } else { "behind" };
            println!("clock       {seconds} s {direction} the database's; synchronize both");
        } else {
            println!("clock       that of the database");
        }
        Ok(exit_code(check.obstacle.is_none() && !is_clock_off))
    }
}

impl MigrateArgs {
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let url = self.database.url()?;
        let names = commands::block_on(async {
            Ok(if self.check { missing_migrations(&url).await? } else { migrate(&url).await? })
        })?;
        for name in &names {
            println!("{name}");
        }
        Ok(exit_code(names.is_empty() || !self.check))
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1_000.0)
}

fn exit_code(is_success: bool) -> ExitCode {
    if is_success { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
