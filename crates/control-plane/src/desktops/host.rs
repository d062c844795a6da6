//! Implementation of the link's host: stores reports of desktops.

use std::sync::Arc;

use loopgate_api::link::{
    Cancel, CommandAck, CommandEvent, Hello, HelloNack, LinkCommand, NackReason, Presence,
    ServerCapabilities, Telemetry,
};
use loopgate_link::server::{DesktopSession, EventOutcome, Host, Identity, OutstandingCommands};
use sea_orm::QueryOrder;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use secrecy::SecretString;
use serde_json::Value;

use super::connections;
use super::diagnostics;
use super::register::{self, DesktopRegistration, RegisterError};
use super::results;
use crate::bus::{Bus, Topic};
use crate::credentials::runner_token::RunnerTokens;
use crate::dispatch::{command, signing};
use crate::error::ApiResult;
use crate::nul;
use crate::store::column::StoredEnum;
use crate::store::entity::desktop_command::{self, CommandStatus};
use crate::store::entity::{agent_loop, api_key, compute_target};
use crate::store::{Store, now};

/// Registry of the connected desktops.
pub type Desktops = loopgate_link::server::ConnectionRegistry<DesktopHost>;

/// Stores reports of desktops in the database and notifies readers.
#[derive(Clone)]
pub struct DesktopHost {
    pub store: Store,
    /// Notifies streams after a change.
    pub bus: Arc<dyn Bus>,
    /// Identifies this process among the instances that share the database.
    pub instance_id: Uuid,
    /// Issues the tokens of launches that are delivered again.
    pub runner_tokens: Arc<RunnerTokens>,
}

impl DesktopHost {
    async fn set_online(&self, session: &DesktopSession, online: bool) {
        match register::set_online(&self.store, session.target_id, online).await {
            Ok(true) => self.bus.publish(Topic::Organization(session.identity.organization_id)),
            Ok(false) => {}
            Err(error) => tracing::warn!(target_id = %session.target_id, %error, "failed to store presence"),
        }
    }
}

/// What a desktop has to receive of an open command.
pub enum OutstandingCommand {
    /// The request.
    Deliver(Box<LinkCommand>),
    /// Its cancellation. A cancelled command is no longer delivered, even when the desktop has not received it.
    Cancel(Cancel),
}

impl DesktopHost {
    /// Returns what a desktop has to receive of an open command; `None` for nothing.
    pub async fn outstanding_command(
        &self,
        row: desktop_command::Model,
    ) -> ApiResult<Option<OutstandingCommand>> {
        if row.cancel_requested_at.is_some() {
            let cancel = Cancel { command_id: row.id.to_string(), reason: None };
            return Ok(Some(OutstandingCommand::Cancel(cancel)));
        }
        let mut request = match serde_json::from_value::<LinkCommand>(row.request_payload) {
            Ok(request) => request,
            Err(error) => {
                // Skipped, because one unreadable command must not block the others.
                tracing::error!(command_id = %row.id, %error, "failed to parse stored command");
                return Ok(None);
            }
        };
        if let Some(loop_id) = row.loop_id.filter(|_| command::needs_token(&request)) {
            // A loop without a token has ended, and its launch is being withdrawn.
            let Some(token) = self.token_of(loop_id).await? else { return Ok(None) };
            command::add_token(&mut request, &token);
        }
        Ok(Some(OutstandingCommand::Deliver(Box::new(request))))
    }

    async fn token_of(&self, loop_id: Uuid) -> ApiResult<Option<SecretString>> {
        let row = agent_loop::Entity::find_by_id(loop_id).one(self.store.reader()).await?;
        let Some(row) = row else { return Ok(None) };
        Ok(self.runner_tokens.in_force(&row)?.map(|issued| issued.token))
    }
}

impl Host for DesktopHost {
    async fn register(
        &self,
        identity: &Identity,
        session_id: Uuid,
        hello: Hello,
    ) -> Result<loopgate_link::server::AcceptedHello, HelloNack> {
        // PostgreSQL cannot store U+0000 in text or JSON.
        let mut capabilities = Value::Object(hello.stored_capabilities());
        nul::replace(&mut capabilities);
        let text = |mut text: String| {
            nul::replace_in(&mut text);
            text
        };
        let bound = api_key::Entity::find_by_id(identity.key_id).one(self.store.reader()).await;
        let bound = bound.map_err(|error| {
            tracing::error!(%error, "failed to read the key of a desktop");
            nack(NackReason::ComputeTargetRegisterFailed)
        })?;
        // Any key of an organization can name any gateway id; only the bound key proves it.
        let bound = bound.and_then(|key| key.bound_gateway());
        let registration = DesktopRegistration {
            organization_id: identity.organization_id,
            user_id: identity.user_id,
            target_id: hello.compute_target_id,
            gateway_id: bound.filter(|bound| hello.gateway_id == Some(*bound)),
            claimed_gateway_id: hello.gateway_id,
            machine_name: text(hello.machine_name),
            platform: text(hello.platform),
            capabilities,
            supported_operations: hello.supported_operations.into_iter().map(text).collect(),
        };
        let row = register::register(&self.store, &registration).await.map_err(|error| match error {
            error @ (RegisterError::Concurrent | RegisterError::TooMany) => HelloNack {
                reason: NackReason::ComputeTargetRegisterFailed,
                message: Some(error.to_string()),
            },
            RegisterError::Store(error) => {
                tracing::error!(%error, "failed to register desktop");
                nack(NackReason::ComputeTargetRegisterFailed)
            }
        })?;
        connections::open(&self.store, row.id, session_id, self.instance_id).await.map_err(|error| {
            tracing::error!(target_id = %row.id, %error, "failed to store the connection of a desktop");
            nack(NackReason::ComputeTargetRegisterFailed)
        })?;
        self.bus.publish(Topic::Organization(identity.organization_id));
        // Its previous connection may belong to another instance.
        self.bus.publish(Topic::Desktop(row.id));
        let signing = signing::is_supported(self.store.reader(), &row).await.unwrap_or_else(|error| {
            tracing::error!(target_id = %row.id, %error, "failed to check whether commands can be signed");
            false
        });
        Ok(loopgate_link::server::AcceptedHello {
            target_id: row.id,
            server_capabilities: ServerCapabilities {
                compute_target_signing: signing,
                agent_session_sync: false,
            },
        })
    }

    async fn outstanding(&self, session: &DesktopSession) -> Result<OutstandingCommands, HelloNack> {
        let rows = desktop_command::Entity::find()
            .filter(desktop_command::Column::ComputeTargetId.eq(session.target_id))
            .filter(desktop_command::Column::Status.is_in(CommandStatus::OPEN.map(StoredEnum)))
            .order_by_asc(desktop_command::Column::CreatedAt)
            .order_by_asc(desktop_command::Column::Id)
            .all(self.store.reader())
            .await
            .map_err(|error| {
                tracing::error!(%error, "failed to read pending commands");
                nack(NackReason::PendingCommandsLookupFailed)
            })?;
        let mut outstanding = OutstandingCommands::default();
        for row in rows {
            let last = u64::try_from(row.last_sequence_acked).unwrap_or_default();
            outstanding.resume_from_sequence.insert(row.id.to_string(), last);
            let id = row.id;
            let command = self.outstanding_command(row).await.map_err(|error| {
                tracing::error!(command_id = %id, error = %error.body.error, "failed to read pending command");
                nack(NackReason::PendingCommandsLookupFailed)
            })?;
            match command {
                Some(OutstandingCommand::Deliver(request)) => outstanding.pending.push(*request),
                Some(OutstandingCommand::Cancel(cancel)) => outstanding.cancelled.push(cancel),
                None => {}
            }
        }
        Ok(outstanding)
    }

    async fn command_ack(&self, session: &DesktopSession, mut ack: CommandAck) {
        [&mut ack.reason, &mut ack.code].into_iter().flatten().for_each(nul::replace_in);
        if let Err(error) = results::ack(&self.store, &*self.bus, session.target_id, &ack).await {
            tracing::error!(command_id = %ack.command_id, %error, "failed to store acknowledgement");
        }
    }

    async fn command_event(&self, session: &DesktopSession, mut event: CommandEvent) -> EventOutcome {
        nul::replace(&mut event.data);
        results::event(&self.store, &*self.bus, session.target_id, &event).await.unwrap_or_else(|error| {
            tracing::error!(command_id = %event.command_id, %error, "failed to store event");
            EventOutcome::Ignored
        })
    }

    async fn presence(&self, session: &DesktopSession, presence: Presence) {
        use compute_target::Column;
        let state = serde_json::to_value(presence.state).ok();
        let state = state.as_ref().and_then(serde_json::Value::as_str).map(str::to_owned);
        let result = compute_target::Entity::update_many()
            .col_expr(Column::State, Expr::value(state))
            .col_expr(Column::ActiveCommands, Expr::value(presence.active_commands.map(i64::from)))
            .col_expr(Column::QueueDepth, Expr::value(presence.queue_depth.map(i64::from)))
            .col_expr(Column::UpdatedAt, Expr::value(now()))
            .filter(Column::Id.eq(session.target_id))
            .exec(self.store.writer())
            .await;
        if let Err(error) = result {
            tracing::warn!(target_id = %session.target_id, %error, "failed to store presence");
        }
        self.set_online(session, true).await;
    }

    async fn telemetry(&self, session: &DesktopSession, telemetry: Telemetry) {
        match diagnostics::store(&self.store, session, &telemetry).await {
            Ok(Some(loop_id)) => self.bus.publish(Topic::Loop(loop_id)),
            Ok(None) => {}
            Err(error) => tracing::error!(%error, "failed to store loop diagnostics"),
        }
        match diagnostics::record_policies(&self.store, session, &telemetry).await {
            Ok(true) => self.bus.publish(Topic::Organization(session.identity.organization_id)),
            Ok(false) => {}
            Err(error) => tracing::error!(%error, "failed to record approval policies in the audit log"),
        }
        let Telemetry { severity, category, message, timestamp, trace, diagnostics, .. } = telemetry;
        // The identity comes from the connection, never from the payload, which the desktop controls.
        tracing::info!(
            organization_id = %session.identity.organization_id,
            user_id = %session.identity.user_id,
            target_id = %session.target_id,
            category,
            severity = ?severity,
            text = message,
            timestamp,
            loop_id = trace.loop_id,
            command_id = trace.command_id,
            operation_id = trace.operation_id,
            loop_session_id = trace.loop_session_id,
            desktop_client_version = trace.desktop_client_version,
            diagnostics = %serde_json::Value::from(diagnostics.unwrap_or_default()),
            "desktop telemetry"
        );
    }

    async fn touch(&self, session: &DesktopSession) {
        self.set_online(session, true).await;
    }

    async fn disconnected(&self, session: &DesktopSession) {
        match connections::close(&self.store, session).await {
            Ok(true) => self.set_online(session, false).await,
            // The desktop is connected to another instance.
            Ok(false) => {}
            Err(error) => tracing::warn!(target_id = %session.target_id, %error, "failed to store presence"),
        }
    }
}

fn nack(reason: NackReason) -> HelloNack {
    HelloNack { reason, message: None }
}
