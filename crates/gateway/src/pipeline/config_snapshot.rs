//! Data that the pipeline derives from the settings, cached per settings snapshot.

use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;
use loopgate_home::Settings;

use super::host::OwnHosts;
use super::origin::OriginPolicy;
use crate::config::GatewayConfig;
use crate::health::liveness::{Capabilities, LivenessResponse};

/// Data derived from one settings snapshot.
pub(crate) struct ConfigSnapshot {
    pub(crate) settings: Arc<Settings>,
    pub(crate) setup_complete: bool,
    /// Port of the listener; 0 before it is bound.
    pub(crate) port: u16,
    pub(crate) hosts: OwnHosts,
    pub(crate) origins: OriginPolicy,
    pub(crate) production_only: bool,
    /// Serialized response of `/health`.
    pub(crate) health: Bytes,
}

/// Caches the latest snapshot until the settings, the API key or the port change.
pub(crate) struct ConfigSnapshotCache {
    machine_name: String,
    present: RwLock<Option<Arc<ConfigSnapshot>>>,
}

impl ConfigSnapshotCache {
    pub(crate) fn new() -> Self {
        let machine_name = hostname::get().unwrap_or_default().to_string_lossy().into_owned();
        Self { machine_name, present: RwLock::new(None) }
    }

    /// Returns the current snapshot. Every request calls this, so an unchanged snapshot costs a comparison
    /// only.
    pub(crate) fn get(&self, config: &GatewayConfig, port: u16) -> Arc<ConfigSnapshot> {
        let settings = config.settings.get();
        let setup_complete = settings.setup_complete(config.credentials.api_key().is_some());
        let present = self.present.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(snapshot) = present
            && Arc::ptr_eq(&snapshot.settings, &settings)
            && snapshot.setup_complete == setup_complete
            && snapshot.port == port
        {
            return snapshot;
        }
        // Concurrent requests may prepare the same snapshot twice. The results are equal, so the last one
        // wins.
        let snapshot = Arc::new(self.prepare(config, settings, setup_complete, port));
        *self.present.write().unwrap_or_else(PoisonError::into_inner) = Some(snapshot.clone());
        snapshot
    }

    fn prepare(
        &self,
        config: &GatewayConfig,
        settings: Arc<Settings>,
        setup_complete: bool,
        port: u16,
    ) -> ConfigSnapshot {
        let health = LivenessResponse {
            status: "ok",
            machine_name: self.machine_name.clone(),
            capabilities: Capabilities::default(),
            gateway_id: config.credentials.gateway_id().to_string(),
            onboarding_completed: setup_complete,
            version: config.version.clone(),
            port,
        };
        let production_only = config.production_origins_only;
        let origins = OriginPolicy::new(settings.web_app_origin.as_deref(), production_only);
        ConfigSnapshot {
            setup_complete,
            port,
            hosts: OwnHosts::new(port),
            origins,
            production_only,
            health: serde_json::to_vec(&health).unwrap_or_default().into(),
            settings,
        }
    }
}
