//! Brings the listener of the connect broker from the second process to the first.
//!
//! One end of a pair of sockets is the second process's standard input until the walls stand, so no other open file
//! has to be inherited.

use std::{
    fs::File,
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd as _, OwnedFd},
    path::Path,
};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

use crate::wall::kernel::Listener;

/// Makes the way: the supervisor's end, and the one for the second process's standard input.
pub(super) fn way() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?)
}

/// Hands the listener over by standard input, if there is one, and leaves `input` there to read, or nothing.
pub(super) fn send(listener: Option<Listener>, input: Option<&Path>) -> io::Result<()> {
    if let Some(listener) = listener {
        let file = OwnedFd::from(listener);
        let files = [file.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut messages = SendAncillaryBuffer::new(&mut space);
        if !messages.push(SendAncillaryMessage::ScmRights(&files)) {
            return Err(io::Error::other("the listener does not fit into a message"));
        }
        sendmsg(io::stdin(), &[IoSlice::new(WORD)], &mut messages, SendFlags::empty())?;
    }
    rustix::stdio::dup2_stdin(File::open(input.unwrap_or(Path::new("/dev/null")))?)?;
    Ok(())
}

/// Waits for the listener; none comes where the second process failed or has no filter.
pub(super) fn receive(way: &OwnedFd) -> io::Result<Option<Listener>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut messages = RecvAncillaryBuffer::new(&mut space);
    let mut word = [0; WORD.len()];
    recvmsg(way, &mut [IoSliceMut::new(&mut word)], &mut messages, RecvFlags::CMSG_CLOEXEC)?;
    let files = messages.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    Ok(files.last().map(Listener::from))
}

/// A message has to have a byte besides its files.
const WORD: &[u8] = b"!";
