//! The words of every sentence that `analyze` prints, each with its meaning: the page has them at its end, and
//! `docs/glossary.md` repeats them (a test compares).

/// At most fifteen terms, in the order in which a reader meets them.
pub(crate) const TERMS: [(&str, &str); 15] = [
    (
        "late",
        "A packet is late if it arrives after another that was sent behind it. It arrived, and the network did not keep the order.",
    ),
    ("lost", "A packet is lost if it never arrives."),
    (
        "discarded",
        "A packet arrived, and the receiver did not take it although it lacked the data: it was so late that its timestamp \
         was too old (PAWS, RFC 7323 section 5), or it lay outside the receiver's window; or the receiver reported it and discarded it later \
         (RFC 2018 section 8). The columns call it refused.",
    ),
    (
        "extent",
        "How many packets overtook a late one at least, as RFC 4737 section 4.2 counts them.",
    ),
    (
        "retransmission",
        "Data sent again. It is needed if the original was lost or discarded, and spurious if the original was taken.",
    ),
    (
        "recovery",
        "The time from the first retransmission until everything sent before it is acknowledged. In it the sender reduces \
         its congestion window.",
    ),
    (
        "time-out",
        "The retransmission timer expires: nothing was heard for longer than the sender waits, 200 ms or more.",
    ),
    (
        "tail loss probe",
        "A packet that the sender repeats to hear whether the end of its data arrived (RFC 8985 section 7). It is no reduction.",
    ),
    (
        "congestion window",
        "How much the sender lets be in flight, so as not to overload the path. A reduction makes it smaller; it is \
         unnecessary if nothing had been lost.",
    ),
    (
        "receiver's window",
        "How much more the receiver is ready to take. It is closed at zero.",
    ),
    (
        "line",
        "The narrowest link of the path: the bottleneck. Its rate is given as payload.",
    ),
    (
        "round trip",
        "The time from sending a packet to its acknowledgement.",
    ),
    (
        "limit",
        "What the transfer waits for at an instant. Shares of the time are shares of the life of the connection.",
    ),
    (
        "certain, likely, undecided",
        "Certain: nothing else is possible. Likely: right in 95 of 100 cases. What is undecided (ambiguous) is not counted.",
    ),
    (
        "goodput",
        "Payload that arrived, each byte once, over the time that this took.",
    ),
];

#[cfg(test)]
mod tests {
    use super::TERMS;

    #[test]
    fn the_page_of_the_documentation_says_the_same() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/glossary.md");
        let page = std::fs::read_to_string(path).expect("the glossary");
        let rows: Vec<String> = TERMS
            .iter()
            .map(|(term, meaning)| format!("| {term} | {meaning} |"))
            .collect();
        let there: Vec<&str> = page
            .lines()
            .filter(|line| line.starts_with("| ") && !line.starts_with("| term"))
            .collect();
        assert_eq!(there, rows);
    }
}
