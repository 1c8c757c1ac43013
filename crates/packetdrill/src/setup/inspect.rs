//! Commands that look at the machine instead of changing it: how many sockets are in a state.
//!
//! FreeBSD's scripts count with `sockstat -4 -P tcp -s | grep packetdril | grep -c TIME_WAIT | grep 1`, which fails unless
//! the last `grep` finds its number.

use inorder_tcp::State;

/// The states as sockstat(1) prints them.
const STATES: [(&str, State); 11] = [
    ("CLOSED", State::Closed),
    ("LISTEN", State::Listen),
    ("SYN_SENT", State::SynSent),
    ("SYN_RCVD", State::SynReceived),
    ("ESTABLISHED", State::Established),
    ("CLOSE_WAIT", State::CloseWait),
    ("FIN_WAIT_1", State::FinWait1),
    ("FIN_WAIT_2", State::FinWait2),
    ("CLOSING", State::Closing),
    ("LAST_ACK", State::LastAck),
    ("TIME_WAIT", State::TimeWait),
];

/// The state to be counted and the number wanted, if the line is such a command.
pub(crate) fn states(line: &str) -> Option<(State, usize)> {
    let mut parts = line.split('|').map(str::trim);
    if !parts.next()?.starts_with("sockstat ") {
        return None;
    }
    let mut state = None;
    let mut wanted = None;
    for part in parts {
        let words: Vec<_> = part.split_whitespace().collect();
        match words.as_slice() {
            ["grep", "-c", name] => {
                state = STATES.iter().find(|(known, _)| known == name);
                state?;
            }
            ["grep", number] if state.is_some() => wanted = Some(number.parse().ok()?),
            // Only sockets of this process, which all are.
            ["grep", "packetdril" | "packetdrill"] => {}
            _ => return None,
        }
    }
    Some((state?.1, wanted?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_commands_are_understood_and_others_are_not() {
        assert_eq!(
            states("sockstat -4 -P tcp -s | grep packetdril | grep -c TIME_WAIT | grep 1"),
            Some((State::TimeWait, 1))
        );
        assert_eq!(
            states("sockstat -6 -P tcp -s | grep -c CLOSED | grep 0"),
            Some((State::Closed, 0))
        );
        for other in [
            "netstat | grep -c CLOSED | grep 0",
            "sockstat -4 | grep -c BUSY | grep 1",
            "sockstat -4 | grep -c CLOSED",
            "sockstat -4 | wc -l",
        ] {
            assert_eq!(states(other), None, "{other}");
        }
    }
}
