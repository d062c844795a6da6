//! Reports of desktops about pull requests of change requests.

use std::collections::BTreeSet;

use loopgate_api::pull_request::{PullRequestReport, WatchedPullRequest};
use sea_orm::prelude::*;
use sea_orm::{IntoActiveModel as _, QueryOrder as _, QuerySelect as _, QueryTrait as _};

use super::refresh;
use super::standing::is_open;
use crate::app::ControlPlaneState;
use crate::bus::Topic;
use crate::store::entity::{agent_loop, compute_target, pull_request};
use crate::store::{now, parse_json};

// Open pull requests that a desktop watches, the newest ones: it sends a query for each.
const WATCHED: usize = 50;

/// Stores what a desktop reports about pull requests of its loops, and derives the states of their change requests.
/// Ignores other pull requests. Returns those of its loops that are not known to be merged or closed.
pub async fn report(
    app: &ControlPlaneState,
    target: &compute_target::Model,
    reports: Vec<PullRequestReport>,
) -> Result<Vec<WatchedPullRequest>, DbErr> {
    let store = &app.store;
    if !reports.is_empty() {
        let tx = store.begin().await?;
        let names: BTreeSet<_> = reports.iter().map(|report| report.full_name.clone()).collect();
        let rows = of_target(target).filter(pull_request::Column::FullName.is_in(names)).all(&tx).await?;
        let mut documents = BTreeSet::new();
        for report in reports {
            let is_same = |row: &&pull_request::Model| {
                row.full_name == report.full_name && u64::try_from(row.number) == Ok(report.number)
            };
            let standing =
                serde_json::to_value(&report.standing).map_err(|error| DbErr::Json(error.to_string()))?;
            for row in rows.iter().filter(is_same) {
                documents.extend(row.document_id);
                let update = pull_request::Model {
                    standing: Some(standing.clone()),
                    reported_at: Some(now()),
                    ..row.clone()
                };
                update.into_active_model().reset_all().update(&tx).await?;
            }
        }
        // In the order of their ids, as each refresh locks a document.
        for document in documents {
            refresh(&tx, document).await?;
        }
        tx.commit().await?;
        app.bus.publish(Topic::Organization(target.organization_id));
    }
    let newest = of_target(target).order_by_desc(pull_request::Column::CreatedAt).all(store.writer()).await?;
    let watched =
        newest.into_iter().filter(|row| is_open(parse_json(row.standing.as_ref()).as_ref())).filter_map(
            |row| Some(WatchedPullRequest { number: row.number.try_into().ok()?, full_name: row.full_name }),
        );
    Ok(watched.take(WATCHED).collect())
}

/// Selects the pull requests that loops of a desktop opened.
fn of_target(target: &compute_target::Model) -> Select<pull_request::Entity> {
    let loops = agent_loop::Entity::find()
        .select_only()
        .column(agent_loop::Column::Id)
        .filter(agent_loop::Column::ComputeTargetId.eq(target.id));
    pull_request::Entity::find()
        .filter(pull_request::Column::OrganizationId.eq(target.organization_id))
        .filter(pull_request::Column::LoopId.in_subquery(loops.into_query()))
}
