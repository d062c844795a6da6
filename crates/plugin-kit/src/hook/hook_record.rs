//! Record that the hooks of a session run. The driver stops a session of a loop without it: hooks are its guards, and the
//! assistant has settings that switch them off.

use std::path::Path;

use loopgate_home::untrusted;

use super::input::HookInput;
use crate::variables as var;

/// Records the session, if a driver has requested it.
pub fn store(input: &HookInput) {
    if let Some(file) = var::text(var::HOOK_RECORD) {
        // Best-effort like every hook: without the record, the driver reports that no hook ran.
        let _ = untrusted::write(Path::new(&file), input.session_id.as_bytes());
    }
}
