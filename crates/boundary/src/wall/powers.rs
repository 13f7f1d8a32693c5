//! Gives up the privileges of the process: capabilities, and every way to gain some.

use rustix::{
    io::Errno,
    process::{Resource, Rlimit, getrlimit, setrlimit},
    thread::{
        CapabilitiesSecureBits, CapabilitySet, CapabilitySets, Gid, Uid, capabilities,
        clear_ambient_capability_set, remove_capability_from_bounding_set, set_capabilities,
        set_capabilities_secure_bits, set_no_new_privs, set_thread_groups, set_thread_res_gid,
        set_thread_res_uid,
    },
};

use crate::wall::{Limits, User, WallError};

/// Drops every capability for good, and becomes another user first, if there is one to become.
///
/// An ordinary user may not empty the bounding set. That costs nothing: it only limits what a
/// privileged program could gain, and `no_new_privs` leaves nothing to gain.
pub(super) fn give_up(user: Option<User>) -> Result<(), WallError> {
    set_no_new_privs(true).map_err(WallError::kernel("forgo new privileges"))?;
    let held = capabilities(None).map_err(WallError::kernel("read the capabilities"))?;
    if held.effective.contains(CapabilitySet::SETPCAP) {
        empty_bounding_set().map_err(WallError::kernel("empty the bounding set"))?;
        set_capabilities_secure_bits(root_is_nobody()).map_err(WallError::kernel("lock the secure bits"))?;
    }
    if let Some(user) = user {
        become_user(user).map_err(WallError::kernel("become another user"))?;
    }
    clear_ambient_capability_set().map_err(WallError::kernel("clear the ambient capabilities"))?;
    drop_capabilities().map_err(WallError::kernel("drop the capabilities"))
}

/// Drops every capability of the calling thread.
pub(super) fn drop_capabilities() -> Result<(), Errno> {
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}

/// Becomes an ordinary user for good.
pub(super) fn give_root_back(user: User) -> Result<(), Errno> {
    empty_bounding_set()?;
    become_user(user)
}

/// Makes the calling thread another user's, with one group. Root may; everything that made it root goes with it.
fn become_user(user: User) -> Result<(), Errno> {
    let (id, group) = (Uid::from_raw(user.id), Gid::from_raw(user.group));
    set_thread_groups(&[])?;
    set_thread_res_gid(group, group, group)?;
    set_thread_res_uid(id, id, id)
}

/// Limits what a runaway can take: no core dump of what it had in memory, no flood of files or processes.
///
/// The kernel counts processes by user, those of the harness included, and exempts user 0 in its own namespace.
pub(super) fn limit(further: Limits) -> Result<(), WallError> {
    let Limits { memory, file, seconds } = further;
    let further = [(Resource::As, memory), (Resource::Fsize, file), (Resource::Cpu, seconds)];
    let further = further.into_iter().filter_map(|(resource, most)| Some((resource, most?)));
    for (resource, most) in LIMITS.into_iter().chain(further) {
        let held = getrlimit(resource);
        let at_most = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
        let fewer = Rlimit { current: at_most(held.current), maximum: at_most(held.maximum) };
        setrlimit(resource, fewer).map_err(WallError::kernel("limit what a runaway can take"))?;
    }
    Ok(())
}

/// The most of each: bytes of a core dump, bytes of one file, open files, processes of the user.
const LIMITS: [(Resource, u64); 4] =
    [(Resource::Core, 0), (Resource::Fsize, 8 << 30), (Resource::Nofile, 65_536), (Resource::Nproc, 16_384)];

fn empty_bounding_set() -> Result<(), Errno> {
    for bit in 0..u64::BITS {
        match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << bit)) {
            // The kernel knows no capability beyond this one.
            Err(Errno::INVAL) => break,
            other => other?,
        }
    }
    Ok(())
}

/// Makes user 0 an ordinary user, irreversibly.
fn root_is_nobody() -> CapabilitiesSecureBits {
    use CapabilitiesSecureBits as Bits;
    Bits::NO_ROOT
        | Bits::NO_ROOT_LOCKED
        | Bits::NO_SETUID_FIXUP
        | Bits::NO_SETUID_FIXUP_LOCKED
        | Bits::KEEP_CAPS_LOCKED
        | Bits::NO_CAP_AMBIENT_RAISE
        | Bits::NO_CAP_AMBIENT_RAISE_LOCKED
}
