//! Acts of the operator, who has access to the database: on the command line, also while the control plane
//! runs.

use std::path::Path;

use sea_orm::prelude::*;
use sea_orm::{ConnectionTrait, QueryOrder};
use serde_json::json;
use thiserror::Error;
use uuid::Uuid;

use crate::accounts::email::EmailAddress;
use crate::accounts::password_reset::{self, ResetOrigin};
use crate::accounts::{self, FirstOwner, Owner};
use crate::audit::{Actor, AuditAction};
use crate::credentials::session;
use crate::dispatch::command;
use crate::error::ApiError;
use crate::store::Store;
use crate::store::column::StoredEnum;
use crate::store::entity::user::{self, Role};
use crate::store::entity::{desktop_command, organization};

/// The database of a control plane, for an operator.
pub struct Administration {
    store: Store,
}

/// The reason why an act of an operator failed.
#[derive(Debug, Error)]
pub enum AdministrationError {
    /// The database connection or a statement failed.
    #[error("cannot use the database: {0}")]
    Database(#[from] DbErr),
    /// The database belongs to another version, or to no control plane.
    #[error("{0}")]
    OtherVersion(String),
    /// The request is invalid, for example because no such user exists.
    #[error("{0}")]
    Refused(String),
    /// The database has its own program for backups.
    #[error("the database is PostgreSQL, which is backed up with pg_dump and restored with pg_restore")]
    NotSqlite,
}

impl From<ApiError> for AdministrationError {
    fn from(error: ApiError) -> Self {
        Self::Refused(error.body.error)
    }
}

/// A user of an organization, for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedUser {
    /// E-mail address of the user.
    pub email: String,
    /// Full name of the user.
    pub name: String,
    /// Slug of the organization.
    pub organization: String,
    /// Whether the user is an administrator of the organization.
    pub is_administrator: bool,
    /// Whether the user may sign in.
    pub is_active: bool,
}

/// An organization, for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedOrganization {
    /// First segment of the web app's paths.
    pub slug: String,
    pub name: String,
}

type Result<T> = std::result::Result<T, AdministrationError>;

impl Administration {
    /// Connects to the database without changing its schema.
    ///
    /// # Errors
    /// Fails when the database cannot be used, or belongs to another version.
    pub async fn open(database_url: &str) -> Result<Self> {
        let store = Store::connect(database_url, None).await?;
        match store.schema().await?.obstacle {
            None => Ok(Self { store }),
            Some(reason) => Err(AdministrationError::OtherVersion(reason)),
        }
    }

    #[cfg(test)]
    pub(crate) const fn of(store: Store) -> Self {
        Self { store }
    }

    /// Returns whether a control plane has used the database before.
    ///
    /// # Errors
    /// Fails when the database cannot be used.
    pub async fn is_in_use(database_url: &str) -> Result<bool> {
        let store = Store::connect(database_url, None).await?;
        let is_in_use = store.has_schema().await?;
        store.close().await?;
        Ok(is_in_use)
    }

    /// Fails unless a SQLite file is the complete database of a control plane. An earlier version may have
    /// written it.
    ///
    /// # Errors
    /// Fails when the file cannot be used, is damaged, is another database, or requires a later version.
    pub async fn check_file(database_url: &str) -> Result<()> {
        let store = Store::connect(database_url, None).await?;
        let result = Self::check_store(&store).await;
        store.close().await?;
        result
    }

    async fn check_store(store: &Store) -> Result<()> {
        if let Some(problem) = damage(store).await? {
            return Err(refused(format!("the database is damaged: {problem}")));
        }
        if !store.has_schema().await? {
            return Err(refused("the database is not one of a control plane".to_owned()));
        }
        let schema = store.schema().await?;
        match schema.obstacle {
            Some(reason) if schema.is_later => Err(AdministrationError::OtherVersion(reason)),
            _ => Ok(()),
        }
    }

    /// Creates a token that signs a user in once within ten minutes: the user with an address, or the oldest
    /// administrator.
    ///
    /// # Errors
    /// Fails when there is no such user, or several.
    pub async fn sign_in_token(&self, email: Option<&str>, organization: Option<&str>) -> Result<String> {
        let user = match email {
            Some(email) => self.user(email, organization).await?,
            None => self.oldest_administrator(organization).await?,
        };
        if !user.active {
            return Err(refused(format!("{} is deactivated; activate the user first", user.email)));
        }
        let token = session::create_link(&self.store, user.id, "link", None).await?;
        let (actor, details) = (Actor::default(), json!({"origin": ORIGIN}));
        let (db, action) = (self.store.writer(), AuditAction::SignInLinkCreated);
        actor.record(db, user.organization_id, action, user.id, details).await?;
        Ok(token)
    }

    /// Creates a token with which a user sets a new password within a day.
    ///
    /// # Errors
    /// Fails when there is no such user, or several, or the user signs in at a provider.
    pub async fn password_reset_token(&self, email: &str, organization: Option<&str>) -> Result<String> {
        let user = self.user(email, organization).await?;
        let tx = self.store.begin().await?;
        let reset = password_reset::create(&tx, &user, &Actor::default(), ResetOrigin::Operator).await?;
        tx.commit().await?;
        Ok(reset.token)
    }

    /// Activates or deactivates a user. Deactivation revokes all sessions of the user.
    ///
    /// # Errors
    /// Fails when there is no such user, or several.
    pub async fn set_active(&self, email: &str, organization: Option<&str>, active: bool) -> Result<()> {
        let user = self.user(email, organization).await?;
        let tx = self.store.begin().await?;
        user::Entity::update_many()
            .col_expr(user::Column::Active, active.into())
            .filter(user::Column::Id.eq(user.id))
            .exec(&tx)
            .await?;
        if !active {
            command::withdraw(&tx, desktop_command::Column::UserId.eq(user.id)).await?;
            session::revoke_user(&tx, user.id).await?;
        }
        let action = if active { AuditAction::MemberActivated } else { AuditAction::MemberDeactivated };
        let details = json!({"origin": ORIGIN});
        Actor::default().record(&tx, user.organization_id, action, user.id, details).await?;
        Ok(tx.commit().await?)
    }

    /// Creates an organization and its owner.
    ///
    /// # Errors
    /// Fails when another organization has the same slug.
    pub async fn add_organization(&self, owner: &FirstOwner) -> Result<Owner> {
        if EmailAddress::parse(&owner.email).is_none() {
            return Err(refused(format!("\"{}\" is not an e-mail address", owner.email.escape_default())));
        }
        for name in [&owner.organization, &owner.name] {
            if name.trim().is_empty()
                || name.chars().any(char::is_control)
                || name.chars().count() > NAME_LIMIT
            {
                return Err(refused(format!(
                    "\"{}\" is not a name of 1 to {NAME_LIMIT} printable characters",
                    name.escape_default()
                )));
            }
        }
        let slug = accounts::slug(&owner.organization);
        let tx = self.store.begin().await?;
        let existing = organization::Entity::find().filter(organization::Column::Slug.eq(&slug));
        if existing.count(&tx).await? > 0 {
            return Err(refused(format!(
                "an organization with the slug \"{slug}\" exists; choose another name"
            )));
        }
        let created = accounts::create_organization(&tx, owner).await?;
        let (action, details) = (AuditAction::OrganizationCreated, json!({"origin": ORIGIN, "slug": slug}));
        let id = created.organization_id;
        Actor::default().record(&tx, id, action, id, details).await?;
        tx.commit().await?;
        Ok(created)
    }

    /// Lists the users of all organizations, or of one.
    ///
    /// # Errors
    /// Fails when the database fails, or the organization does not exist.
    pub async fn users(&self, organization: Option<&str>) -> Result<Vec<ListedUser>> {
        let organizations = self.organizations_of(organization).await?;
        let users = self.users_of(&organizations).await?;
        let slug = |user: &user::Model| {
            let organization =
                organizations.iter().find(|organization| organization.id == user.organization_id);
            organization.map(|organization| organization.slug.clone()).unwrap_or_default()
        };
        let listed = users.into_iter().map(|user| ListedUser {
            name: user.full_name(),
            organization: slug(&user),
            is_administrator: user.role.0 == Role::Admin,
            is_active: user.active,
            email: user.email,
        });
        Ok(listed.collect())
    }

    /// Lists the organizations of the control plane.
    ///
    /// # Errors
    /// Fails when the database fails.
    pub async fn organizations(&self) -> Result<Vec<ListedOrganization>> {
        let rows = self.organizations_of(None).await?;
        Ok(rows.into_iter().map(|row| ListedOrganization { slug: row.slug, name: row.name }).collect())
    }

    /// Writes a consistent copy of a SQLite database to a new file, also while the control plane runs.
    ///
    /// # Errors
    /// Fails with [`AdministrationError::NotSqlite`] on PostgreSQL, and when the file exists.
    pub async fn copy_database(&self, to: &Path) -> Result<()> {
        if !self.store.is_embedded() {
            return Err(AdministrationError::NotSqlite);
        }
        let path = to.to_str().ok_or_else(|| refused(format!("{} is not valid UTF-8", to.display())))?;
        // A copy of the file would miss the changes in the write-ahead log.
        let statement = format!("VACUUM INTO '{}'", path.replace('\'', "''"));
        self.store.writer().execute_unprepared(&statement).await?;
        Ok(())
    }

    /// Closes the connections to the database.
    ///
    /// # Errors
    /// Fails when the database fails.
    pub async fn close(self) -> Result<()> {
        Ok(self.store.close().await?)
    }

    async fn organizations_of(&self, slug: Option<&str>) -> Result<Vec<organization::Model>> {
        let mut organizations = organization::Entity::find().order_by_asc(organization::Column::CreatedAt);
        if let Some(slug) = slug {
            organizations = organizations.filter(organization::Column::Slug.eq(slug));
        }
        let rows = organizations.all(self.store.reader()).await?;
        match slug {
            Some(slug) if rows.is_empty() => Err(refused(format!("there is no organization \"{slug}\""))),
            _ => Ok(rows),
        }
    }

    async fn users_of(&self, organizations: &[organization::Model]) -> Result<Vec<user::Model>> {
        let ids: Vec<Uuid> = organizations.iter().map(|organization| organization.id).collect();
        let users = user::Entity::find()
            .filter(user::Column::OrganizationId.is_in(ids))
            .order_by_asc(user::Column::CreatedAt)
            .order_by_asc(user::Column::Id);
        Ok(users.all(self.store.reader()).await?)
    }

    async fn user(&self, email: &str, organization: Option<&str>) -> Result<user::Model> {
        let organizations = self.organizations_of(organization).await?;
        let mut users = self.users_of(&organizations).await?;
        users.retain(|user| user.email.eq_ignore_ascii_case(email.trim()));
        match users.len() {
            0 => Err(refused(format!("there is no user with the e-mail address {email}"))),
            1 => Ok(users.remove(0)),
            _ => Err(refused(format!("{email} belongs to several organizations; name one with --in"))),
        }
    }

    async fn oldest_administrator(&self, organization: Option<&str>) -> Result<user::Model> {
        let organizations = self.organizations_of(organization).await?;
        let users = self.users_of(&organizations).await?;
        let oldest = users.into_iter().find(|user| user.active && user.role == StoredEnum(Role::Admin));
        oldest.ok_or_else(|| refused("there is no active administrator; name a user with --email".to_owned()))
    }
}

/// Returns the first error that SQLite finds in a database.
async fn damage(store: &Store) -> Result<Option<String>> {
    let check = sea_orm::Statement::from_string(sea_orm::DbBackend::Sqlite, "PRAGMA quick_check");
    let row = store.reader().query_one_raw(check).await?;
    let result: Option<String> = row.map(|row| row.try_get_by_index(0)).transpose()?;
    Ok(result.filter(|result| result != "ok"))
}

// Characters of the name of an organization or a person.
const NAME_LIMIT: usize = 100;
// Value of the member `origin` in the details of the audit log.
const ORIGIN: &str = "command_line";

const fn refused(text: String) -> AdministrationError {
    AdministrationError::Refused(text)
}
