//! The list of an organization's change requests: filters, text search, and keyset pagination.

use std::collections::{BTreeMap, HashSet};

use loopgate_api::launch::RepoRef;
use sea_orm::prelude::*;
use sea_orm::sea_query::{Expr, ExprTrait, Func};
use sea_orm::{
    Condition, ConnectionTrait, DbBackend, JoinType, QueryOrder as _, QuerySelect as _, QueryTrait as _,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::standing::ChangeState;
use super::view::{ChangeRequestRecord, change_requests};
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::extract::separated;
use crate::loops::view::{LoopUser, users};
use crate::page::{self, Position};
use crate::store::column::StoredEnum;
use crate::store::entity::{change_request, change_request_mark, document, user};
use crate::store::{now, parse_json};
use crate::text_search;

/// Selects a page of change requests.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", default)]
#[into_params(parameter_in = Query)]
pub struct ChangeRequestQuery {
    /// Returns only change requests in one of these states, separated by commas.
    #[serde(deserialize_with = "separated")]
    #[param(style = Form, explode = false)]
    pub state: Vec<ChangeState>,
    /// Returns only change requests that need a person, and that the caller has not snoozed.
    pub attention: bool,
    /// Returns only change requests of the caller.
    pub mine: bool,
    /// Returns archived change requests instead of the others.
    pub archived: bool,
    /// Returns only change requests of this user: an id or an e-mail address.
    pub person: Option<String>,
    /// Returns only change requests of this repository, `<org>/<repo>`; those without a repository if it is empty.
    pub repo: Option<String>,
    /// Returns only change requests whose title, slug or repository contains this text, at most 200 characters.
    /// Not case-sensitive.
    pub text: Option<String>,
    /// Rows per page, 1 to 200; 50 by default.
    pub limit: Option<u64>,
    /// Returns only change requests that changed before this time: `changedAt` of the last row of the previous page.
    pub before: Option<String>,
    /// Id of the document of that row, the tie-break of equal times.
    pub before_id: Option<Uuid>,
    /// Whether to count the change requests of all pages.
    pub count: bool,
}

/// A page of change requests.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChangeRequestPage {
    /// Always `true` in a successful response.
    pub success: bool,
    /// The change requests, most recently changed first.
    pub data: Vec<ChangeRequestRecord>,
    /// Number of change requests on all pages; absent unless the query asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

/// Returns a page of the change requests of the caller's organization, most recently changed first.
pub async fn page(
    db: &impl ConnectionTrait,
    caller: &Caller,
    query: &ChangeRequestQuery,
) -> ApiResult<ChangeRequestPage> {
    use change_request::{Column, Entity};
    let limit = page::limit(query.limit)?;
    let position = Position::parse(query.before.as_deref(), query.before_id)?;
    let matching = matching(db.get_database_backend(), caller, query)?;
    let total = if query.count { Some(matching.clone().count(db).await?) } else { None };
    let selection = match position {
        Some(position) => {
            matching.filter(position.after((Entity, Column::ChangedAt), (Entity, Column::DocumentId)))
        }
        None => matching,
    };
    let rows = selection
        .order_by_desc(Column::ChangedAt)
        .order_by_desc(Column::DocumentId)
        .limit(limit)
        .find_also_related(document::Entity)
        .all(db)
        .await?;
    Ok(ChangeRequestPage { success: true, data: change_requests(db, caller.user.id, rows).await?, total })
}

/// Returns the query for the change requests on all pages.
fn matching(
    backend: DbBackend,
    caller: &Caller,
    query: &ChangeRequestQuery,
) -> ApiResult<Select<change_request::Entity>> {
    use change_request::Column;
    let organization = caller.organization_id();
    let mut selection = change_request::Entity::find().filter(Column::OrganizationId.eq(organization));
    selection = selection.filter(if query.archived {
        Column::ArchivedAt.is_not_null()
    } else {
        Column::ArchivedAt.is_null()
    });
    if !query.state.is_empty() {
        selection = selection.filter(Column::State.is_in(query.state.iter().copied().map(StoredEnum)));
    }
    if query.attention {
        selection = selection.filter(needs_person(caller.user.id));
    }
    if query.mine {
        selection = selection.filter(Column::UserId.eq(caller.user.id));
    }
    if let Some(person) = query.person.as_deref().map(str::trim).filter(|person| !person.is_empty()) {
        let user = user::Entity::find().filter(user::Column::OrganizationId.eq(organization));
        let user = match Uuid::try_parse(person) {
            Ok(id) => user.filter(user::Column::Id.eq(id)),
            Err(_) => {
                let email = Expr::expr(Func::lower(Expr::col((user::Entity, user::Column::Email))));
                user.filter(email.eq(person.to_lowercase()))
            }
        };
        let user = user.select_only().column(user::Column::Id).into_query();
        selection = selection.filter(Column::UserId.in_subquery(user));
    }
    let text = text_search::requested(query.text.as_deref())?;
    let mut documents = document::Entity::find()
        .select_only()
        .column(document::Column::Id)
        .filter(document::Column::OrganizationId.eq(organization))
        .filter(document::Column::DeletedAt.is_null());
    if let Some(text) = text {
        documents = documents.filter(mentions(backend, text));
    }
    if let Some(repo) = query.repo.as_deref() {
        documents = documents.filter(is_of_repository(backend, repo));
    }
    Ok(selection.filter(Column::DocumentId.in_subquery(documents.into_query())))
}

/// What a list is grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    State,
    Repository,
    Person,
}

/// Selects the groups of a list, in addition to [`ChangeRequestQuery`].
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct GroupQuery {
    /// What the list is grouped by.
    #[param(inline)]
    pub by: Grouping,
}

/// A group of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ChangeRequestGroup {
    /// Value of the parameter that selects the group: `state`, `repo` or `person`.
    pub value: String,
    /// Name of the group: of the person, of the repository, or of the state.
    pub name: String,
    /// Number of its change requests.
    pub count: u64,
}

/// Returns the groups of the change requests that a query selects on all pages: states in the order of the work, others
/// by name.
pub async fn groups(
    db: &impl ConnectionTrait,
    caller: &Caller,
    query: &ChangeRequestQuery,
    by: Grouping,
) -> ApiResult<Vec<ChangeRequestGroup>> {
    use change_request::{Column, Relation};
    // Counted here: the name of a repository is inside a JSON value, which the databases access in different ways.
    let rows: Vec<(StoredEnum<ChangeState>, Uuid, Option<Json>)> =
        matching(db.get_database_backend(), caller, query)?
            .join(JoinType::InnerJoin, Relation::Document.def())
            .select_only()
            .columns([Column::State, Column::UserId])
            .column(document::Column::Repo)
            .into_tuple()
            .all(db)
            .await?;
    let names = users(db, rows.iter().map(|(_, user, _)| *user).collect::<HashSet<_>>().into_iter()).await?;
    let mut groups: BTreeMap<(usize, String), ChangeRequestGroup> = BTreeMap::new();
    for (state, user, repo) in &rows {
        let (order, value, name) = match by {
            Grouping::State => (state.0 as usize, state.0.name(), state.0.name()),
            Grouping::Repository => {
                let repo: Option<RepoRef> = parse_json(repo.as_ref());
                let name = repo.map(|repo| repo.full_name).unwrap_or_default();
                (0, name.clone(), name)
            }
            Grouping::Person => {
                let user = names.get(user);
                let email = user.map(|user| user.email.clone()).unwrap_or_default();
                (0, email, user.map(LoopUser::full_name).unwrap_or_default())
            }
        };
        let key = (order, format!("{} {value}", name.to_lowercase()));
        groups.entry(key).or_insert(ChangeRequestGroup { value, name, count: 0 }).count += 1;
    }
    Ok(groups.into_values().collect())
}

/// Returns the condition for change requests that need a person, unless the user has snoozed them.
fn needs_person(user: Uuid) -> Condition {
    use change_request_mark::Column as Mark;
    let snoozed = change_request_mark::Entity::find()
        .select_only()
        .column(Mark::DocumentId)
        .filter(Mark::UserId.eq(user))
        .filter(Mark::SnoozedUntil.gt(now()));
    Condition::all()
        .add(change_request::Column::Attention.is_not_null())
        .add(change_request::Column::DocumentId.not_in_subquery(snoozed.into_query()))
}

/// Returns the condition for documents whose title, slug or repository contains a text.
fn mentions(backend: DbBackend, text: &str) -> Condition {
    use document::Column;
    let column = |column: Column| Expr::col((document::Entity, column));
    let columns = [column(Column::Title), column(Column::Slug), column(Column::Repo).cast_as("text")];
    text_search::any_contains(backend, columns, text)
}

/// Returns the condition for documents of a repository, or of none. The name is compared inside the stored JSON object.
fn is_of_repository(backend: DbBackend, repo: &str) -> Expr {
    if repo.is_empty() {
        return document::Column::Repo.is_null();
    }
    let stored = Expr::col((document::Entity, document::Column::Repo)).cast_as("text");
    text_search::contains(backend, stored, &format!("\"{repo}\""))
}
