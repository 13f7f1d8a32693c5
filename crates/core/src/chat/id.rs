//! The names that Discord gives to things: numbers that carry the time at which each was made.

use std::{fmt, num::NonZeroU64, str::FromStr};

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// The first millisecond of 2015, from which the numbers count.
const EPOCH_MS: u64 = 1_420_070_400_000;
/// Below the time, a number tells which machine made it.
const TIME_SHIFT: u32 = 22;

/// A text that is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no id, which is a number such as `1438210000000000000`")]
pub struct BadId(String);

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(NonZeroU64);

        impl $name {
            /// Takes a number for an id; 0 is not an id.
            pub fn new(number: u64) -> Option<Self> {
                NonZeroU64::new(number).map(Self)
            }

            /// Returns the number.
            pub fn number(self) -> u64 {
                self.0.get()
            }

            /// Returns when the thing was made, which its id tells.
            pub fn made_at(self) -> Timestamp {
                made_at(self.number())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                // A sign in front would be a second spelling of the same id.
                let digits = text.bytes().all(|byte| byte.is_ascii_digit());
                let number = text.parse().ok().filter(|_| digits);
                number.map(Self).ok_or_else(|| BadId(text.to_owned()))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }
    )+};
}

ids! {
    /// A guild, which people call a server.
    GuildId;
    /// A channel or a thread. A thread that was begun on a message has the message's number.
    ChannelId;
    /// A message.
    MessageId;
    /// A person or a bot.
    UserId;
    /// A role of a guild. The role that everybody has bears the guild's number.
    RoleId;
}

impl MessageId {
    /// Returns the id that comes before those of all messages written at this time or later.
    pub fn before(time: Timestamp) -> Option<Self> {
        let since = u64::try_from(time.as_millisecond()).ok()?.checked_sub(EPOCH_MS)?;
        Self::new(since.checked_mul(1 << TIME_SHIFT)?.saturating_sub(1))
    }
}

fn made_at(number: u64) -> Timestamp {
    let milliseconds = (number >> TIME_SHIFT) + EPOCH_MS;
    i64::try_from(milliseconds)
        .ok()
        .and_then(|milliseconds| Timestamp::from_millisecond(milliseconds).ok())
        .unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_tells_when_its_thing_was_made() {
        // The example of Discord's own documentation.
        let id: MessageId = "175928847299117063".parse().unwrap();
        assert_eq!(id.made_at().to_string(), "2016-04-30T11:18:25.796Z");
    }

    #[test]
    fn the_id_before_a_time_is_smaller_than_all_of_that_time() {
        let id: MessageId = "175928847299117063".parse().unwrap();
        let before = MessageId::before(id.made_at()).unwrap();
        assert!(before < id);
        assert!(before.made_at() < id.made_at());
        assert_eq!(MessageId::before(Timestamp::UNIX_EPOCH), None);
    }

    #[test]
    fn an_id_is_digits_and_nothing_else() {
        for text in ["", "0", "-1", "+5", " 5", "5 ", "5a", "18446744073709551616", "٥"] {
            assert_eq!(text.parse::<UserId>(), Err(BadId(text.to_owned())), "{text}");
        }
        assert_eq!("18446744073709551615".parse::<UserId>().unwrap().number(), u64::MAX);
    }

    #[test]
    fn an_id_is_a_text_in_json_as_numbers_lose_digits_there() {
        let id = RoleId::new(1_438_210_000_000_000_001).unwrap();
        assert_eq!(serde_json::to_string(&id).unwrap(), "\"1438210000000000001\"");
        assert_eq!(serde_json::from_str::<RoleId>("\"1438210000000000001\"").unwrap(), id);
        assert!(serde_json::from_str::<RoleId>("1438210000000000001").is_err());
    }
}
