//! Whose names stand on the agent's commits.

use std::{ffi::OsString, os::unix::fs::PermissionsExt as _, path::Path};

use fro_boundary::Signature;
use fro_core::Fault;

use crate::{
    delegate::{Assignment, Branch},
    job::Scope,
};

/// Returns whose name stands on commits. It is given with each command, so that no settings of the clone count.
pub(crate) fn identity(scope: Scope<'_>, assignment: &Assignment) -> Vec<(OsString, OsString)> {
    let own = scope.permit().own();
    let (name, email) = match assignment {
        Assignment::Branch(branch) => (branch.account.login.to_string(), branch.account.email()),
        Assignment::Look(_) | Assignment::Patch { .. } => {
            (own.to_string(), format!("{own}@users.noreply.github.com"))
        }
    };
    let names = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|key| (key.into(), name.clone().into()));
    let emails = ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|key| (key.into(), email.clone().into()));
    names.into_iter().chain(emails).collect()
}

/// Returns who asked for the work, as commits name them.
pub(crate) fn asker(branch: &Branch) -> Signature {
    let asker = branch.commission.asker();
    let name: String =
        asker.as_str().chars().filter(|c| c.is_ascii_alphanumeric() || "-_[]".contains(*c)).collect();
    Signature { email: format!("{name}@users.noreply.github.com"), name }
}

/// Lets every commit of the clone name who asked for it.
pub(crate) fn sign(clone: &Path, assignment: &Assignment) -> Result<(), Fault> {
    let Assignment::Branch(branch) = assignment else { return Ok(()) };
    let Signature { name, email } = asker(branch);
    let script = format!(
        "#!/bin/sh\nexec git interpret-trailers --in-place --if-exists addIfDifferent \
         --trailer 'Co-authored-by: {name} <{email}>' \"$1\"\n"
    );
    let hook = clone.join(".git/hooks/prepare-commit-msg");
    let written = fs_err::create_dir_all(clone.join(".git/hooks"))
        .and_then(|()| fs_err::write(&hook, script))
        .and_then(|()| fs_err::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)));
    written.map_err(|error| Fault::in_temporary_folder("cannot prepare the agent's clone", &error))
}
