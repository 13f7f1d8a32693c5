//! Passes arguments and environment by standard input to a process that `sudo` starts.
//!
//! `sudo` writes arguments into the machine's log and drops the environment.

use std::{
    ffi::{OsStr, OsString},
    io::{self, Read, Write},
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
};

/// More than any system takes for both together.
const LARGEST: usize = 16 << 20;

/// Arguments and environment of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProcessStrings {
    pub(super) arguments: Vec<OsString>,
    pub(super) environment: Vec<(OsString, OsString)>,
}

impl ProcessStrings {
    /// Writes it.
    pub(super) fn send(&self, to: &mut impl Write) -> io::Result<()> {
        let arguments = self.arguments.iter().map(|word| word.as_bytes().to_vec());
        let variables = self.environment.iter();
        let variables = variables.map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat());
        let text: Vec<u8> = arguments.chain(variables).flat_map(|word| word.into_iter().chain([0])).collect();
        for number in [self.arguments.len(), text.len()] {
            to.write_all(&u64::try_from(number).map_err(io::Error::other)?.to_le_bytes())?;
        }
        to.write_all(&text)
    }

    /// Reads it, and not a byte more.
    pub(super) fn receive(from: &mut impl Read) -> io::Result<Self> {
        let (n_arguments, length) = (number(from)?, number(from)?);
        if length > LARGEST {
            return Err(io::Error::other("the message is too large"));
        }
        let mut text = vec![0; length];
        from.read_exact(&mut text)?;
        let mut words =
            text.split_inclusive(|byte| *byte == 0).map(|word| word.strip_suffix(&[0]).unwrap_or(word));
        let arguments =
            words.by_ref().take(n_arguments).map(|word| OsString::from_vec(word.to_vec())).collect();
        let environment = words.filter_map(pair).collect();
        Ok(Self { arguments, environment })
    }
}

fn number(from: &mut impl Read) -> io::Result<usize> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    u64::from_le_bytes(bytes).try_into().map_err(io::Error::other)
}

fn pair(word: &[u8]) -> Option<(OsString, OsString)> {
    let end = word.iter().position(|byte| *byte == b'=')?;
    let owned = |bytes| OsStr::from_bytes(bytes).to_owned();
    Some((owned(&word[..end]), owned(&word[end + 1..])))
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn word(from: u8) -> impl Strategy<Value = OsString> {
        vec(from.., 0..20).prop_map(OsString::from_vec)
    }

    proptest! {
        #[test]
        fn what_is_sent_arrives_and_what_follows_stays(
            arguments in vec(word(1), 0..4),
            // No name of a variable has a `=`.
            environment in vec((word(b'>'), word(1)), 0..4),
        ) {
            let strings = ProcessStrings { arguments, environment };
            let mut bytes = Vec::new();
            strings.send(&mut bytes).unwrap();
            bytes.extend(b"!!");
            let mut rest = bytes.as_slice();

            prop_assert_eq!(ProcessStrings::receive(&mut rest).unwrap(), strings);
            prop_assert_eq!(rest, b"!!");
        }

        #[test]
        fn any_bytes_are_read(bytes in vec(any::<u8>(), 0..64)) {
            drop(ProcessStrings::receive(&mut bytes.as_slice()));
        }
    }
}
