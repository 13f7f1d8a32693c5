//! What a run has begun so far (folders, engine, 👀), so that an interruption can say what was taken back.

use fro_agent::Step;
use fro_run::Progress;

/// What was begun so far.
#[derive(Debug, Default)]
pub(crate) struct RunSigns {
    folders: bool,
    engine: bool,
    acknowledged: bool,
}

impl RunSigns {
    /// Hears of a run's progress.
    pub(crate) fn note(&mut self, news: &Progress) {
        self.folders |= matches!(news, Progress::Agent(Step::Opened { .. }));
        self.engine |= matches!(news, Progress::Agent(Step::EngineUp { .. }));
        self.acknowledged |= matches!(news, Progress::Acknowledged);
    }

    /// Says what a run that was interrupted has taken back.
    pub(crate) fn undone(&self) -> String {
        let undone = [
            (self.engine, "the engine is stopped"),
            (self.folders, "its folders are removed"),
            (self.acknowledged, "👀 and the label are taken back"),
        ];
        let undone: Vec<_> = undone.into_iter().filter(|(begun, _)| *begun).map(|(_, what)| what).collect();
        match undone.as_slice() {
            [] => "nothing was begun yet".to_owned(),
            undone => undone.join(", "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_begun_is_said_to_be_taken_back() {
        let news = [
            Progress::Agent(Step::Opened { private: "private".into() }),
            Progress::Acknowledged,
            Progress::Agent(Step::EngineUp { walls: String::new(), process: None }),
        ];
        let undone = |which: &[usize]| {
            let mut begun = RunSigns::default();
            for number in which {
                begun.note(&news[*number]);
            }
            begun.undone()
        };
        let told = [&[][..], &[0], &[0, 1], &[0, 2], &[0, 1, 2]].map(undone);
        insta::assert_snapshot!(told.join("\n"), @"
        nothing was begun yet
        its folders are removed
        its folders are removed, 👀 and the label are taken back
        the engine is stopped, its folders are removed
        the engine is stopped, its folders are removed, 👀 and the label are taken back
        ");
    }
}
