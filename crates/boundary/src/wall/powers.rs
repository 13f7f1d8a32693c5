//! Gives up the privileges of the process: capabilities, and every way to gain some.

use rustix::{
    io::Errno,
    process::{Resource, Rlimit, getrlimit, setrlimit},
    thread::{
        CapabilitiesSecureBits, CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
        remove_capability_from_bounding_set, set_capabilities, set_capabilities_secure_bits,
        set_no_new_privs,
    },
};

use crate::wall::WallError;

/// Drops every capability for good.
///
/// An ordinary user may not empty the bounding set. That costs nothing: it only limits what a
/// privileged program could gain, and `no_new_privs` leaves nothing to gain.
pub(super) fn give_up() -> Result<(), WallError> {
    set_no_new_privs(true).map_err(WallError::kernel("forgo new privileges"))?;
    let held = capabilities(None).map_err(WallError::kernel("read the capabilities"))?;
    if held.effective.contains(CapabilitySet::SETPCAP) {
        empty_bounding_set().map_err(WallError::kernel("empty the bounding set"))?;
        set_capabilities_secure_bits(root_is_nobody()).map_err(WallError::kernel("lock the secure bits"))?;
    }
    clear_ambient_capability_set().map_err(WallError::kernel("clear the ambient capabilities"))?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
        .map_err(WallError::kernel("drop the capabilities"))
}

/// Limits what a runaway can take: no core dump of what it had in memory, no flood of files or processes.
///
/// The kernel counts processes by user, those of the harness included, and exempts user 0 in its own namespace.
pub(super) fn limit() -> Result<(), WallError> {
    for (resource, most) in LIMITS {
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
