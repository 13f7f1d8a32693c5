//! From the event to the permit: what is not for us ends here.

use fro_core::{
    Decision, Fault, Permit, Task, Trigger,
    event::{self, Reading},
    gate::{self, SkipReason},
    remembered::Audience,
};

use crate::{
    ending::Ending,
    occasion::Occasion,
    process::Process,
    progress::{Progress, Tell},
    venue::Host,
};

/// What came of looking at an event.
pub enum Admission {
    /// The run is over already.
    Ended(Ending),
    /// The event is to be answered.
    Admitted(Box<Admitted>),
}

/// An event that is to be answered.
pub struct Admitted {
    pub(crate) trigger: Trigger,
    pub(crate) permit: Permit,
    pub(crate) task: Task,
    pub(crate) host: Host,
    pub(crate) audience: Option<Audience>,
    file: Option<String>,
}

impl Admitted {
    /// Returns the text of the settings that live with the repository, for whoever made those of the process.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }
}

/// Decides whether an event is answered. `interrupt` ends when somebody asks the run to stop.
pub async fn admit(
    process: &Process,
    occasion: &Occasion,
    tell: Tell<'_>,
    interrupt: impl Future<Output = ()>,
) -> Result<Admission, Fault> {
    let skip = |reason: SkipReason| {
        tell(Progress::Skipped(reason.clone()));
        Ok(Admission::Ended(Ending::Skipped(reason)))
    };
    let policy = &process.policy;
    let trigger = match event::read(&occasion.event)? {
        Reading::Trigger(trigger) => trigger,
        Reading::Skip(reason) => return skip(reason),
    };
    if let Err(reason) = gate::glance(&trigger, policy) {
        return skip(reason);
    }
    let host = Host::open(process, &trigger)?;
    let questions = async {
        let facts = Box::pin(host.facts(&trigger, policy, occasion));
        tokio::join!(facts, host.repo_settings(), host.audience(occasion))
    };
    let (facts, file, audience) = tokio::select! {
        answers = questions => answers,
        () = interrupt => return Ok(Admission::Ended(Ending::Interrupted)),
    };
    match gate::decide(&trigger, &facts?, policy) {
        Decision::Run(permit, task) => {
            let admitted = Admitted { trigger, permit: *permit, task, host, audience, file: file? };
            Ok(Admission::Admitted(Box::new(admitted)))
        }
        Decision::Skip(reason) => skip(reason),
    }
}
