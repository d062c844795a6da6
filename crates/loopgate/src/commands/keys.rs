//! `loopgate keys`: the browser keys that may sign commands for this desktop.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use loopgate_home::{AuthorizedKeys, BrowserKey};

use crate::browser_keys::user_home;

/// Decide which browsers may sign commands for this desktop.
///
/// With `command_signing_required = true` in the settings, this desktop takes commands of its control plane only when
/// they are signed by a key that you authorized here. A browser registers its key on the page of the control plane;
/// compare the fingerprint there with the one here before you authorize it.
#[derive(Debug, Args)]
pub struct KeysArgs {
    #[command(subcommand)]
    command: KeysCommand,
}

#[derive(Debug, Subcommand)]
enum KeysCommand {
    /// List the keys that are authorized, and those that ask to be.
    List,
    /// Let a key sign commands.
    Authorize {
        /// Fingerprint of a key that asks, for example `lg:If4x36FUomFia_hUBG_SJx`.
        fingerprint: String,
        /// The key itself in base64, for one that the control plane does not list.
        #[arg(long, value_name = "KEY")]
        public_key: Option<String>,
        /// Whose key that is.
        #[arg(long, value_name = "NAME", requires = "public_key", default_value = "")]
        owner: String,
    },
    /// Do not let a key sign, and do not ask about it again.
    Reject {
        /// Its fingerprint.
        fingerprint: String,
    },
    /// Take a key out again; it may ask again.
    Remove {
        /// Its fingerprint.
        fingerprint: String,
    },
}

impl KeysArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let keys = AuthorizedKeys::of_home(&user_home()?);
        match self.command {
            KeysCommand::List => list(&keys)?,
            KeysCommand::Authorize { fingerprint, public_key, owner } => {
                let owner = match public_key {
                    Some(key) => {
                        keys.authorize(&key, &fingerprint, &owner)?;
                        owner
                    }
                    None => keys.authorize_pending(&fingerprint)?.owner_name,
                };
                let whose = if owner.is_empty() { String::new() } else { format!(" of {owner}") };
                println!("The key {fingerprint}{whose} may sign commands for this desktop.");
            }
            KeysCommand::Reject { fingerprint } => {
                keys.reject(&fingerprint)?;
                println!("The key {fingerprint} may not sign, and is not asked about again.");
            }
            KeysCommand::Remove { fingerprint } => {
                let removed = keys.remove(&fingerprint.parse()?)?;
                let said = if removed { "signs no more" } else { "was not authorized" };
                println!("The key {fingerprint} {said}.");
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn list(keys: &AuthorizedKeys) -> anyhow::Result<()> {
    let (authorized, pending) = (keys.authorized()?, keys.pending()?);
    if authorized.is_empty() && pending.is_empty() {
        println!("No browser key is authorized, and none asks to be.");
        return Ok(());
    }
    for key in &authorized {
        println!("authorized  {}  {}", key.fingerprint, owner(key));
    }
    for key in &pending {
        println!("asks        {}  {}", key.fingerprint, owner(key));
    }
    if let Some(key) = pending.first() {
        println!("\nTo let one sign: loopgate keys authorize {}", key.fingerprint);
    }
    Ok(())
}

fn owner(key: &BrowserKey) -> String {
    let address = if key.owner_email.is_empty() { String::new() } else { format!(" <{}>", key.owner_email) };
    format!("{}{address}", key.owner_name)
}
