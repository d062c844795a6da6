//! Close codes of the WebSocket.

/// Intended closure by either side.
pub const NORMAL: u16 = 1000;
/// The server shuts down or restarts.
pub const GOING_AWAY: u16 = 1001;
/// Protocol violation, for example a missing subprotocol.
pub const PROTOCOL: u16 = 1002;
/// The peer sent a binary frame.
pub const UNSUPPORTED: u16 = 1003;
/// The peer sent text that is not UTF-8.
pub const INVALID_TEXT: u16 = 1007;
/// The message exceeds [`MAX_MESSAGE_BYTES`](super::MAX_MESSAGE_BYTES).
pub const TOO_BIG: u16 = 1009;
/// Internal error of the server.
pub const INTERNAL: u16 = 1011;
/// The peer reads too slowly: its send queue is full.
pub const TRY_AGAIN_LATER: u16 = 1013;
/// The message is not a frame, or the hello is invalid.
pub const MALFORMED: u16 = 4400;
/// The API key expired or was revoked during the connection.
pub const KEY_ENDED: u16 = 4401;
/// The owner of the key may no longer connect this desktop.
pub const FORBIDDEN: u16 = 4403;
/// No hello was received in time.
pub const NO_HELLO: u16 = 4408;
/// The gateway id is bound to another owner.
pub const GATEWAY_CONFLICT: u16 = 4409;
/// A newer connection of the same target replaced this one.
pub const SUPERSEDED: u16 = 4410;
