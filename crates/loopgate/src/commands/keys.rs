//! `loopgate keys`: manages the browser keys that may sign commands for this machine.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use loopgate_home::{AuthorizedKeys, BrowserKey};

use crate::browser_keys::user_home;

/// Manage the browser keys that may sign commands for this machine.
///
/// With `command_signing_required = true` in the settings, this desktop accepts commands of its control plane
/// only if they are signed by a key that you authorized here. A browser registers its key on the page of the
/// control plane. Compare the fingerprint there with the one listed here before you authorize it.
#[derive(Debug, Args)]
pub struct KeysArgs {
    #[command(subcommand)]
    command: KeysCommand,
}

#[derive(Debug, Subcommand)]
enum KeysCommand {
    /// List authorized keys, and pending keys that request authorization.
    List,
    /// Authorize a key to sign commands.
    Authorize {
        /// Fingerprint of a pending key, for example `lg:If4x36FUomFia_hUBG_SJx`.
        fingerprint: String,
        /// Public key in base64, for a key that the control plane does not list.
        #[arg(long, value_name = "KEY")]
        public_key: Option<String>,
        /// Name of the key's owner.
        #[arg(long, value_name = "NAME", requires = "public_key", default_value = "")]
        owner: String,
    },
    /// Reject a pending key and ignore its further requests.
    Reject {
        /// Fingerprint of the key.
        fingerprint: String,
    },
    /// Revoke the authorization of a key. The key may request authorization again.
    Remove {
        /// Fingerprint of the key.
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
                println!("The key {fingerprint}{whose} may sign commands for this machine.");
            }
            KeysCommand::Reject { fingerprint } => {
                keys.reject(&fingerprint)?;
                println!("The key {fingerprint} was rejected. Its further requests are ignored.");
            }
            KeysCommand::Remove { fingerprint } => {
                let removed = keys.remove(&fingerprint.parse()?)?;
                let result = if removed { "is no longer authorized" } else { "was not authorized" };
                println!("The key {fingerprint} {result}.");
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn list(keys: &AuthorizedKeys) -> anyhow::Result<()> {
    let (authorized, pending) = (keys.authorized()?, keys.pending()?);
    if authorized.is_empty() && pending.is_empty() {
        println!("No browser key is authorized or pending.");
        return Ok(());
    }
    for key in &authorized {
        println!("authorized  {}  {}", key.fingerprint, owner(key));
    }
    for key in &pending {
        println!("pending     {}  {}", key.fingerprint, owner(key));
    }
    if let Some(key) = pending.first() {
        println!("\nTo authorize one: loopgate keys authorize {}", key.fingerprint);
    }
    Ok(())
}

fn owner(key: &BrowserKey) -> String {
    let address = if key.owner_email.is_empty() { String::new() } else { format!(" <{}>", key.owner_email) };
    format!("{}{address}", key.owner_name)
}
