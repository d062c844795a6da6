//! Registry of the providers of this desktop.

use std::sync::Arc;

use loopgate_api::provider::ProviderId;

use crate::provider::Provider;
use crate::provider::assistant::Assistant;
use crate::provider::reviewer::Reviewer;

/// All providers, in the order in which they are offered to the user.
#[derive(Clone)]
pub struct ProviderRegistry(Vec<Arc<dyn Provider>>);

impl Default for ProviderRegistry {
    fn default() -> Self {
        Self(vec![Arc::new(Assistant), Arc::new(Reviewer)])
    }
}

impl ProviderRegistry {
    /// Registers a provider, replacing one with the same id.
    pub fn register(&mut self, provider: Arc<dyn Provider>) {
        self.0.retain(|registered| registered.id() != provider.id());
        self.0.push(provider);
    }

    /// Returns the provider with this id.
    #[must_use]
    pub fn get(&self, id: &ProviderId) -> Option<Arc<dyn Provider>> {
        self.0.iter().find(|provider| provider.id() == id).cloned()
    }

    /// Returns the provider with this name, or `None` if there is none or the name is not a valid id.
    #[must_use]
    pub fn by_name(&self, name: &str) -> Option<Arc<dyn Provider>> {
        self.get(&ProviderId::parse(name)?)
    }

    /// Returns all providers in order.
    #[must_use]
    pub fn list(&self) -> &[Arc<dyn Provider>] {
        &self.0
    }

    /// Returns the assistant, even if it is not registered.
    #[must_use]
    pub fn assistant(&self) -> Arc<dyn Provider> {
        self.get(&ProviderId::ASSISTANT).unwrap_or_else(|| Arc::new(Assistant))
    }

    /// Returns the reviewer, even if it is not registered.
    #[must_use]
    pub fn reviewer(&self) -> Arc<dyn Provider> {
        self.get(&ProviderId::REVIEWER).unwrap_or_else(|| Arc::new(Reviewer))
    }
}
