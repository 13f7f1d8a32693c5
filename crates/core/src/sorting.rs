//! What may be done to the run's own subject besides speaking on it: labels, assignees, closing and reopening.

use crate::{
    fence,
    gate::{Permit, Reach},
    place::Subject,
};

/// A change to a subject that is no word on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sorting {
    /// Puts labels on.
    Label(Vec<String>),
    /// Takes labels off.
    Unlabel(Vec<String>),
    /// Has people see to it.
    Assign(Vec<String>),
    /// Lets people off.
    Unassign(Vec<String>),
    /// Closes it, for a reason that GitHub knows.
    Close(Option<CloseReason>),
    /// Opens it again.
    Reopen,
}

/// Why an issue is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseReason {
    /// The issue is done.
    Completed,
    /// The issue will not be worked on.
    NotPlanned,
}

impl CloseReason {
    /// Returns the word that REST has for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::NotPlanned => "not_planned",
        }
    }

    /// Reads the word, in REST's or in GraphQL's letters.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Completed, Self::NotPlanned]
            .into_iter()
            .find(|reason| reason.word().eq_ignore_ascii_case(word))
    }
}

/// Whether the agent may sort at all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GhDeeds {
    /// The operator did not say so.
    #[default]
    Off,
    /// Sorting is allowed in runs of people who may push.
    On,
}

/// The most labels or people of one deed.
const MOST_NAMES: usize = 20;
/// The most deeds of one run.
const MOST_DEEDS: usize = 20;

impl Sorting {
    /// Says why it is not done, if it is not. `steering` are the labels that tell us what to do.
    pub fn refused(
        &self,
        permit: &Permit,
        deeds: GhDeeds,
        steering: &[&str],
        before: usize,
    ) -> Option<String> {
        match (deeds, permit.reach(), permit.subject()) {
            (GhDeeds::Off, ..) => Some(OFF.to_owned()),
            (GhDeeds::On, Reach::ReadOnly | Reach::Answer, _) => Some(NOT_THEIRS.to_owned()),
            (GhDeeds::On, Reach::Work, Subject::Discussion(_) | Subject::Repository | Subject::Thread(_)) => {
                Some(NO_ISSUE.to_owned())
            }
            (GhDeeds::On, Reach::Work, Subject::Issue(_) | Subject::PullRequest(_)) => {
                self.unfit(steering).or_else(|| (before >= MOST_DEEDS).then(|| TOO_OFTEN.to_owned()))
            }
        }
    }

    fn unfit(&self, steering: &[&str]) -> Option<String> {
        let names = self.names();
        let labels = match self {
            Self::Close(_) | Self::Reopen => return None,
            Self::Label(labels) | Self::Unlabel(labels) => labels.as_slice(),
            Self::Assign(_) | Self::Unassign(_) => &[],
        };
        if names.is_empty() || names.len() > MOST_NAMES {
            return Some(format!("one to {MOST_NAMES} names are taken at once"));
        }
        let steers = |name: &&String| steering.iter().any(|own| own.eq_ignore_ascii_case(name));
        let own = labels.iter().find(steers)?;
        Some(format!("the label `{}` tells this bot what to do; people set it", fence::inline(own)))
    }

    fn names(&self) -> &[String] {
        match self {
            Self::Label(names) | Self::Unlabel(names) | Self::Assign(names) | Self::Unassign(names) => names,
            Self::Close(_) | Self::Reopen => &[],
        }
    }

    /// Says what was done, for the summary and the log.
    pub fn describe(&self) -> String {
        let code = |name: &String| format!("`{}`", fence::inline(name).replace('|', "\\|"));
        let names = self.names().iter().map(code).collect::<Vec<_>>().join(", ");
        match self {
            Self::Label(_) => format!("labelled {names}"),
            Self::Unlabel(_) => format!("took off the label {names}"),
            Self::Assign(_) => format!("assigned {names}"),
            Self::Unassign(_) => format!("unassigned {names}"),
            Self::Close(None) => "closed it".to_owned(),
            Self::Close(Some(CloseReason::Completed)) => "closed it as completed".to_owned(),
            Self::Close(Some(CloseReason::NotPlanned)) => "closed it as not planned".to_owned(),
            Self::Reopen => "reopened it".to_owned(),
        }
    }
}

const OFF: &str = "labels, assignees, closing and reopening are for people here: `gh-deeds` is not set";
const NOT_THEIRS: &str =
    "labels, assignees, closing and reopening are for those who may push, and who asks may not";
const NO_ISSUE: &str = "only an issue or a pull request is labelled, assigned, closed or reopened";
const TOO_OFTEN: &str = "this run has changed enough of its subject";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        event::{Trigger, tests::all},
        gate::tests::{a_permit, permit_for},
    };

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn who_may_push_may_have_it_sorted_where_the_operator_lets_it() {
        let close = Sorting::Close(None);
        let opened = all().into_iter().find(|trigger| matches!(trigger, Trigger::Issue(_))).unwrap();
        let read_only = permit_for(&opened);
        let asked = |permit: &Permit, deeds| close.refused(permit, deeds, &[], 0);
        assert_eq!(asked(&a_permit(), GhDeeds::On), None);
        assert_eq!(asked(&a_permit(), GhDeeds::Off).as_deref(), Some(OFF));
        assert_eq!(asked(&read_only, GhDeeds::On).as_deref(), Some(NOT_THEIRS));
        assert_eq!(close.refused(&a_permit(), GhDeeds::On, &[], 20).as_deref(), Some(TOO_OFTEN));
    }

    #[test]
    fn labels_that_steer_us_are_for_people() {
        let refused = |sorting: Sorting| sorting.refused(&a_permit(), GhDeeds::On, &["agent: implement"], 0);
        assert_eq!(refused(Sorting::Label(names(&["bug"]))), None);
        for sorting in [Sorting::Label, Sorting::Unlabel] {
            let why = refused(sorting(names(&["bug", "Agent: Implement"]))).unwrap();
            assert!(why.contains("tells this bot what to do"), "{why}");
        }
        assert!(refused(Sorting::Assign(Vec::new())).is_some());
        assert!(refused(Sorting::Label(vec!["x".to_owned(); 21])).is_some());
    }

    #[test]
    fn what_was_done_reads_like_this() {
        let all = [
            Sorting::Label(names(&["bug", "a | `b`"])),
            Sorting::Unlabel(names(&["bug"])),
            Sorting::Assign(names(&["maya"])),
            Sorting::Unassign(names(&["rita"])),
            Sorting::Close(None),
            Sorting::Close(Some(CloseReason::NotPlanned)),
            Sorting::Reopen,
        ];
        insta::assert_snapshot!(all.map(|sorting| sorting.describe()).join("\n"), @r"
        labelled `bug`, `a \| 'b'`
        took off the label `bug`
        assigned `maya`
        unassigned `rita`
        closed it
        closed it as not planned
        reopened it
        ");
    }
}
