//! The list of things to do that an agent keeps while it works.

/// The whole list, in the agent's order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TodoList(pub Vec<Todo>);

/// An item of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Todo {
    /// What, in the agent's words.
    pub what: String,
    /// How far it is.
    pub state: TodoState,
}

/// How far a thing to do is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TodoState {
    /// The agent has not begun with the item.
    Pending,
    /// The agent is at it.
    InProgress,
    /// The item is done.
    Completed,
    /// The item turned out not to be needed.
    Cancelled,
}

impl TodoState {
    /// Reads the engine's word for it; a word that nobody knows leaves the thing to be done.
    pub fn parse(word: &str) -> Self {
        match word {
            "in_progress" => Self::InProgress,
            "completed" => Self::Completed,
            "cancelled" => Self::Cancelled,
            _ => Self::Pending,
        }
    }

    fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Cancelled)
    }
}

impl TodoList {
    /// Returns how many things there are.
    pub fn total(&self) -> usize {
        self.0.len()
    }

    /// Returns how many need no more work.
    pub fn done(&self) -> usize {
        self.0.iter().filter(|todo| todo.state.is_over()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_or_not_needed_is_over() {
        let states = ["completed", "cancelled", "in_progress", "pending", "some new word"];
        let list = TodoList(
            states.map(|word| Todo { what: word.to_owned(), state: TodoState::parse(word) }).to_vec(),
        );
        assert_eq!((list.done(), list.total()), (2, 5));
    }
}
