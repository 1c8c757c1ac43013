//! What a descriptor of `epoll_create` watches.

/// A descriptor of `epoll_create`.
#[derive(Debug, Default)]
pub(super) struct Epoll {
    pub(super) entries: Vec<Entry>,
}

/// A socket that is watched.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) fd: i64,
    /// The events asked for, as written.
    pub(super) events: String,
    /// What had happened to the socket when the entry was last reported; `None` since it was added or modified.
    pub(super) reported: Option<Edges>,
    /// It has reported its one event.
    pub(super) spent: bool,
}

/// Counts of what happened to a socket. Whether one is ready is another question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Edges {
    pub(super) received: u64,
    pub(super) told: u64,
    pub(super) closed: bool,
    pub(super) writable: bool,
}

impl Entry {
    pub(super) fn has(&self, flag: &str) -> bool {
        self.events.split('|').any(|name| name == flag)
    }
}
