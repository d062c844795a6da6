//! Close codes of the WebSocket.

/// Wanted end.
pub const NORMAL: u16 = 1000;
/// The server shuts down or restarts.
pub const GOING_AWAY: u16 = 1001;
/// Violation of the protocol, for example a missing subprotocol.
pub const PROTOCOL: u16 = 1002;
/// Binary frame.
pub const UNSUPPORTED: u16 = 1003;
/// Text that is not UTF-8.
pub const INVALID_TEXT: u16 = 1007;
/// Message above the limit.
pub const TOO_BIG: u16 = 1009;
/// Internal error of the server.
pub const INTERNAL: u16 = 1011;
/// Too far behind: the send queue is full.
pub const TRY_AGAIN_LATER: u16 = 1013;
/// Not a frame, or an invalid hello.
pub const MALFORMED: u16 = 4400;
/// The key ended while connected.
pub const KEY_ENDED: u16 = 4401;
/// No longer allowed.
pub const FORBIDDEN: u16 = 4403;
/// No hello in time.
pub const NO_HELLO: u16 = 4408;
/// The gateway id is bound to another owner.
pub const GATEWAY_CONFLICT: u16 = 4409;
/// The same target connected again.
pub const SUPERSEDED: u16 = 4410;
