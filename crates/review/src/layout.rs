//! Puts all remarks of a draft where they can stand.

use fro_core::{Anchor, draft::InlineComment, say};

use crate::{Diff, Place};

/// Remarks, sorted by where they can stand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    /// Beside the code, at places that GitHub takes.
    pub beside: Vec<(Anchor, String)>,
    /// With the answer itself, each with the place that it is about.
    pub below: Vec<(Anchor, String)>,
}

impl Layout {
    /// Leaves everything to the answer itself.
    pub fn below(remarks: &[InlineComment]) -> Self {
        let below = remarks.iter().map(|remark| (remark.anchor(), remark.body.clone())).collect();
        Self { beside: Vec::new(), below }
    }
}

impl Diff {
    /// Finds a place for every remark. A review cannot hold remarks on whole files, so those go with the answer.
    pub fn lay_out(&self, remarks: &[InlineComment]) -> Layout {
        let mut layout = Layout::default();
        for remark in remarks {
            let about = remark.anchor();
            match self.place(&about) {
                Place::Lines(anchor) => layout.beside.push((anchor, remark.body.clone())),
                Place::Near(anchor) => {
                    layout.beside.push((anchor, say::remarks::moved(&about, &remark.body)));
                }
                Place::File { .. } | Place::Summary => layout.below.push((about, remark.body.clone())),
            }
        }
        layout
    }
}
