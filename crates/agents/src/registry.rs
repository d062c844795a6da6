//! The providers of this desktop.

use std::sync::Arc;

use loopgate_api::provider::ProviderId;

use crate::provider::Provider;
use crate::provider::assistant::Assistant;
use crate::provider::reviewer::Reviewer;

/// Every provider, in the order in which people are offered them.
#[derive(Clone)]
pub struct ProviderRegistry(Vec<Arc<dyn Provider>>);

impl Default for ProviderRegistry {
    fn default() -> Self {
        Self(vec![Arc::new(Assistant), Arc::new(Reviewer)])
    }
}

impl ProviderRegistry {
    /// Adds a provider; one with the same id is replaced.
    pub fn register(&mut self, provider: Arc<dyn Provider>) {
        self.0.retain(|known| known.id() != provider.id());
        self.0.push(provider);
    }

    /// The provider with this id.
    #[must_use]
    pub fn get(&self, id: &ProviderId) -> Option<Arc<dyn Provider>> {
        self.0.iter().find(|provider| provider.id() == id).cloned()
    }

    /// The provider with this name, which may be malformed.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<Arc<dyn Provider>> {
        self.get(&ProviderId::parse(name)?)
    }

    /// Every provider.
    #[must_use]
    pub fn list(&self) -> &[Arc<dyn Provider>] {
        &self.0
    }

    /// The assistant.
    #[must_use]
    pub fn assistant(&self) -> Arc<dyn Provider> {
        self.get(&ProviderId::ASSISTANT).unwrap_or_else(|| Arc::new(Assistant))
    }

    /// The reviewer.
    #[must_use]
    pub fn reviewer(&self) -> Arc<dyn Provider> {
        self.get(&ProviderId::REVIEWER).unwrap_or_else(|| Arc::new(Reviewer))
    }
}
