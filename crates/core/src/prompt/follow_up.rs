//! What the model is told after the first prompt, if anything.

/// Reminds of what is left to do.
pub fn nudge() -> &'static str {
    "Your list of things to do still has open items. Finish them, or say of each why it stays undone and mark it so. \
     Then give your whole final answer again: only your last message is read."
}

/// Asks to go on after an answer broke off.
pub fn go_on() -> &'static str {
    "Your answer did not arrive whole. Go on with what you were asked, and give your whole final answer again: only \
     your last message is read."
}
