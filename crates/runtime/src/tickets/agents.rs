//! Active sub-agents of the assistant, as recorded by its hook.

use std::path::Path;

use loopgate_api::names::WORK_DIR;
use loopgate_api::ticket::ActiveAgent;

use super::files::TicketFiles;

pub(super) const DIRECTORY: &str = ".agent-types";
/// Limit of a record in bytes.
const MAX_RECORD: usize = 4096;

impl TicketFiles {
    /// Returns the active sub-agents, sorted by id. Unreadable records are skipped.
    pub(super) fn active_agents(&self) -> Vec<ActiveAgent> {
        let directory = Path::new(WORK_DIR).join(DIRECTORY);
        let opened = self.worktree.open_directory().and_then(|worktree| worktree.directory(&directory));
        let entries = opened.and_then(|directory| directory.entries()).unwrap_or_default();
        let names = entries.into_iter().filter_map(|entry| entry.name.into_string().ok());
        let mut agents: Vec<ActiveAgent> = names
            .filter(|name| !name.contains('-'))
            .filter_map(|name| {
                let record = self.text(&format!("{DIRECTORY}/{name}")).ok().flatten()?;
                read(name, record.get(..MAX_RECORD).unwrap_or(&record))
            })
            .collect();
        agents.sort_by(|one, other| one.agent_id.cmp(&other.agent_id));
        agents
    }
}

/// Parses `type|name|startedAt`; the last part is optional.
fn read(agent_id: String, record: &str) -> Option<ActiveAgent> {
    let mut parts = record.trim().splitn(3, '|').map(str::to_owned);
    let (agent_type, agent_name) = (parts.next()?, parts.next()?);
    let started_at = parts.next().unwrap_or_default();
    (!agent_type.is_empty() && !agent_name.is_empty()).then_some(ActiveAgent {
        agent_id,
        agent_type,
        agent_name,
        started_at,
    })
}
