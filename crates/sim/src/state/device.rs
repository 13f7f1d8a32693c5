//! Devices that somebody signs in by typing a code on another machine.

use jiff::Timestamp;

/// A device that waits to be let in.
#[derive(Debug, Clone)]
pub struct Device {
    /// What the device asks with.
    pub code: String,
    /// What the person types.
    pub user_code: String,
    /// The client id of the app that is to act for the person.
    pub client_id: String,
    /// What the person said, once they did.
    pub answer: Option<DeviceAnswer>,
    /// When the codes end.
    pub expires_at: Timestamp,
    /// When the device last asked.
    pub asked_at: Option<Timestamp>,
}

/// What a person said to a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceAnswer {
    /// This person lets it in.
    Allowed(String),
    /// Not this one.
    Denied,
}
