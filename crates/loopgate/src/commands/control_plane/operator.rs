//! Sub-commands with which an operator helps users, also while the control plane runs.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use loopgate_control_plane::{Administration, FirstOwner};

use super::DatabaseArgs;
use crate::commands;
use crate::embedded;
use crate::terminal::escape_control;

/// Selects the users of an organization.
#[derive(Debug, Args)]
pub struct OrganizationArg {
    /// Slug of the organization. Default: all organizations.
    #[arg(long = "in", value_name = "SLUG")]
    organization: Option<String>,
}

/// Print a one-time link that signs a user in, valid for ten minutes.
#[derive(Debug, Args)]
pub struct SignInLinkArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    origin: OriginArg,
    /// E-mail address of the user. Default: the oldest administrator.
    #[arg(long, value_name = "ADDRESS")]
    email: Option<String>,
    #[command(flatten)]
    organization: OrganizationArg,
}

/// Origin of the links that a command prints.
#[derive(Debug, Args)]
pub struct OriginArg {
    /// Origin of the web app. Default: that of the control plane that last used the data directory.
    #[arg(long, env = "LOOPGATE_WEB_APP_ORIGIN", value_name = "URL")]
    web_origin: Option<String>,
}

impl OriginArg {
    fn link(&self, database: &DatabaseArgs, page: &str, token: &str) -> anyhow::Result<String> {
        let stored = || embedded::stored_web_origin(&database.data_dir()?);
        let origin = match &self.web_origin {
            Some(origin) => Some(origin.clone()),
            None => stored()?,
        };
        let origin = origin.context("the address of the web app is not known; name it with --web-origin")?;
        Ok(format!("{}/{page}?token={token}", origin.trim_end_matches('/')))
    }
}

/// List, activate and deactivate users, and reset passwords.
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// List the users.
    List {
        #[command(flatten)]
        database: DatabaseArgs,
        #[command(flatten)]
        organization: OrganizationArg,
    },
    /// Print a one-time link with which a user sets a new password, valid for a day.
    ResetPassword {
        #[command(flatten)]
        user: UserArgs,
        #[command(flatten)]
        origin: OriginArg,
    },
    /// Let a deactivated user sign in again.
    Activate(UserArgs),
    /// End the sessions of a user, and reject the user's API keys.
    Deactivate(UserArgs),
}

#[derive(Debug, Args)]
pub struct UserArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// E-mail address of the user.
    #[arg(value_name = "ADDRESS")]
    email: String,
    #[command(flatten)]
    organization: OrganizationArg,
}

/// List and add organizations.
#[derive(Debug, Subcommand)]
pub enum OrganizationCommand {
    /// List the organizations.
    List {
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Create an organization with its owner, and print a one-time link that signs the owner in.
    Add {
        #[command(flatten)]
        database: DatabaseArgs,
        #[command(flatten)]
        origin: OriginArg,
        /// Name of the organization.
        #[arg(value_name = "NAME")]
        name: String,
        /// Name of the owner.
        #[arg(long, value_name = "NAME")]
        owner_name: String,
        /// E-mail address of the owner.
        #[arg(long, value_name = "ADDRESS")]
        owner_email: String,
    },
}

impl SignInLinkArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        with(&self.database, async |administration| {
            let organization = self.organization.organization.as_deref();
            let token = administration.sign_in_token(self.email.as_deref(), organization).await?;
            println!("{}", self.origin.link(&self.database, "sign-in", &token)?);
            Ok(())
        })
    }
}

impl UserCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::List { database, organization } => with(&database, async |administration| {
                for user in administration.users(organization.organization.as_deref()).await? {
                    let role = if user.is_administrator { "administrator" } else { "member" };
                    let state = if user.is_active { role.to_owned() } else { format!("{role}, deactivated") };
                    // Names come from users and may contain escape sequences.
                    let line = format!("{}\t{}\t{}\t{state}", user.organization, user.email, user.name);
                    println!("{}", line.split('\t').map(escape_control).collect::<Vec<_>>().join("\t"));
                }
                Ok(())
            }),
            Self::ResetPassword { user, origin } => with(&user.database, async |administration| {
                let organization = user.organization.organization.as_deref();
                let token = administration.password_reset_token(&user.email, organization).await?;
                println!("{}", origin.link(&user.database, "reset-password", &token)?);
                Ok(())
            }),
            Self::Activate(user) => user.set_active(true),
            Self::Deactivate(user) => user.set_active(false),
        }
    }
}

impl UserArgs {
    fn set_active(&self, active: bool) -> anyhow::Result<ExitCode> {
        with(&self.database, async |administration| {
            let organization = self.organization.organization.as_deref();
            Ok(administration.set_active(&self.email, organization, active).await?)
        })
    }
}

impl OrganizationCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::List { database } => with(&database, async |administration| {
                for organization in administration.organizations().await? {
                    println!("{}\t{}", organization.slug, escape_control(&organization.name));
                }
                Ok(())
            }),
            Self::Add { database, origin, name, owner_name, owner_email } => {
                with(&database, async |administration| {
                    let owner = FirstOwner { organization: name, name: owner_name, email: owner_email };
                    let created = administration.add_organization(&owner).await?;
                    let slug = Some(created.organization_slug.as_str());
                    let token = administration.sign_in_token(None, slug).await?;
                    println!("{}", origin.link(&database, "sign-in", &token)?);
                    Ok(())
                })
            }
        }
    }
}

/// Runs an act on the database.
pub fn with(
    database: &DatabaseArgs,
    act: impl AsyncFnOnce(&Administration) -> anyhow::Result<()>,
) -> anyhow::Result<ExitCode> {
    commands::block_on(async {
        let administration = Administration::open(&database.url()?).await?;
        let result = act(&administration).await;
        administration.close().await?;
        result.map(|()| ExitCode::SUCCESS)
    })
}
