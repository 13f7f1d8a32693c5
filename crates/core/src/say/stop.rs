//! What people are told who said `stop`.

/// What came of the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// What was under way has ended.
    Ended,
    /// Nothing showed that it was under way.
    Nothing,
    /// What is under way has not ended so far.
    Unheard,
}

/// Answers somebody who may stop us.
pub fn stopped(stopped: Stopped) -> String {
    let text = match stopped {
        Stopped::Ended => {
            "Stopped: the work that was under way here has ended. Nothing more is posted for it."
        }
        Stopped::Nothing => {
            "There is nothing to stop: nothing here carries the label `agent: working`. A run that still waits for its \
             runner ends as soon as it starts; a review that began by itself carries no label, and ends too."
        }
        Stopped::Unheard => {
            "The label `agent: working` is still here, a minute after `stop`: either its run does not react, or it was \
             killed and left the label behind. You can cancel the run in the repository's *Actions* tab, and remove the \
             label by hand."
        }
    };
    text.to_owned()
}

/// Answers somebody who says it and has no right to.
pub const NOT_YOURS_TO_STOP: &str =
    "Only those who may push to this repository can stop me. What is under way goes on.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_of_it_reads_like_this() {
        let all = [Stopped::Ended, Stopped::Nothing, Stopped::Unheard];
        let told: Vec<_> = all.map(stopped).into();
        insta::assert_snapshot!(told.join("\n\n"));
    }
}
