//! The words of the language with their meanings: the parser, its suggestions and the reference page all use these
//! lists.

/// A word and its meaning.
pub(crate) struct Entry {
    /// How it is written, beginning with the word itself; parts in `[...]` are optional.
    pub(crate) form: &'static str,
    pub(crate) about: &'static str,
}

impl Entry {
    /// The word itself.
    pub(crate) fn name(&self) -> &str {
        let end = self.form.find(|c: char| !c.is_alphanumeric());
        &self.form[..end.unwrap_or(self.form.len())]
    }
}

/// Declares a list of words: of each its form and its meaning.
macro_rules! words {
    ($(#[$doc:meta])* $list:ident $($form:literal: $about:literal;)+) => {
        $(#[$doc])*
        pub(crate) static $list: &[Entry] = &[$(Entry { form: $form, about: $about }),+];
    };
}

words! {
    STATEMENTS
    "include \"FILE\"": "The statements of another file, found beside this one. What this file declares replaces what an included one declares under the same name, at the place where the included one had it.";
    "clock UNIT [at FREQUENCY]": "The unit of time. The engine counts thousandths of it. A unit other than ns, us, ms or s, such as cycle, needs its frequency if the net also uses seconds. The default is `clock ns`.";
    "parameter NAME [: ENUM] = VALUE [from LOW to HIGH] [\"TEXT\"]": "A value that `--set NAME=VALUE` replaces and that can be swept.";
    "constant NAME = VALUE": "A value computed from parameters and other constants.";
    "enum NAME = A, B, ...": "A type with these values.";
    "record NAME": "A type of tokens; each of the following lines is a field, `NAME: TYPE`.";
    "variable NAME [[SIZE]] = VALUE": "A number, or a list of numbers, outside the places. Delays and what happens at the end of a firing may read it, `do` changes it; guards, keys and counts may not depend on it.";
    "stream NAME": "A stream of random numbers of its own, used as NAME.FUNCTION(...).";
    "function NAME(A, B, ...) = VALUE": "An expression with arguments, which is inserted where it is called.";
    "action NAME": "The following lines, each `do ...`, under one name.";
    "alias NAME = PLACE": "A further name of a place.";
    "place NAME [[KEYS]] [COUNT] [capacity MOST]\nplace NAME: RECORD [fifo | random | least RANK] [by KEY below KEYS] [capacity MOST]": "Without a record a place of plain tokens: COUNT of them, or with KEYS that number of each key (`key` is the key). With a record a queue of tokens; `by` divides it by a key in 0..KEYS, and its order then holds among tokens of one key. Each of the following lines `token VALUE [for A in LOW..HIGH, ...] [if CONDITION]` adds initial tokens; HIGH is not reached.";
    "sink NAME: RECORD": "A place at which tokens leave the net.";
    "transition NAME": "The following lines belong to the transition.";
    "measure NAME = VALUE [in UNIT]": "A number of the result, without the warm-up.";
    "order NAME at PLACE number N [stream KEY below KEYS] [bytes B] [flow F number N [ends COUNT]]": "The reordering of the tokens that arrive at a place: N counts the tokens of a stream from 0. All metrics of RFC 4737 and RFC 5236 for the streams; for the flows (by default the streams) what a receiver that acknowledges cumulatively does. A flow ends after COUNT tokens. Counts from the first token, with the warm-up.";
    "run COUNT at PLACE [warm_up COUNT]\nrun TIME [warm_up TIME]": "How long a run takes: until a number of tokens has arrived at a place, or until a time. Without `warm_up` a tenth of it does not count.";
    "chain NAME below COUNT from PLACE to PLACE": "The net COUNT times, one behind the other: what arrives at the sink of one, the first PLACE, is in the second PLACE of the next at the same time. No net waits for the next. NAME is the number of each net, from 0, and may be used as a constant. `run` counts in the last net, whose numbers have no addition to their group; of the others there are the measures, and of each order what its receivers see.";
    "sweep PARAMETER = A, B, ... | LOW..HIGH [step STEP]": "Values of a parameter, each of which is a cell of the result, unless `--set` replaces them. HIGH is included.";
    "if CONDITION ... [else ...] end": "Statements, or lines of a transition, that only exist if the condition on parameters and constants holds.";
}

words! {
    LINES_OF_TRANSITION
    "in [TOKEN:] PLACE [[KEY]] [COUNT]": "Takes a token of a queue and names it (`in A, B: PLACE` takes two), or COUNT plain tokens, by default 1. Without KEY, all arcs to places with keys refer to one key, the colour.";
    "read [TOKEN:] PLACE [[KEY]] [COUNT]": "As `in`, but the tokens stay.";
    "inhibit PLACE [[colour]] [COUNT]": "Forbids starting while the place holds COUNT tokens or more, by default 1; with `[colour]`, that number of the colour.";
    "reset PLACE": "Empties the place when the firing starts.";
    "guard CONDITION": "Fires only with tokens for which the condition holds.";
    "delay TIME": "How long a firing takes; without it the transition is immediate. Tokens are taken at its start, and outputs appear at its end.";
    "priority N": "Higher priorities start first; by default 1 for immediate transitions and 0 for those with a delay.";
    "weight W": "Its weight in a random choice among equal priorities, by default 1.";
    "servers N": "The greatest number of firings at the same time; no limit by default.";
    "cancel [TOKEN:] TRANSITION [oldest | newest | all] [to PLACE] [if CONDITION]": "At the end of a firing, before its `do` and outputs, ends firings of another transition that are under way, without outputs: of those for which the condition holds the one that started first (`oldest`, the default), last (`newest`), or all. TOKEN is the first token that such a firing holds; it goes to PLACE, or it is gone, as is all else that the firing holds. If there is no such firing, nothing happens.";
    "do VARIABLE [[INDEX]] = VALUE | += VALUE | -= VALUE\ndo ACTION": "Changes a variable at the end of a firing, before its outputs; lines are executed in their order.";
    "out PLACE: TOKEN [if CONDITION]\nout PLACE [[KEY]] [COUNT]": "Adds a token to a queue, or COUNT plain tokens.";
    "else PLACE: TOKEN [if CONDITION]": "Behind `out` with a condition: where the token goes otherwise.";
}

words! {
    FUNCTIONS
    "min(A, B)": "The smaller one.";
    "max(A, B)": "The greater one.";
    "floor(X)": "The greatest whole number not above X.";
    "ceil(X)": "The smallest whole number not below X.";
    "round(X)": "The nearest whole number.";
}

words! {
    /// Random functions besides the families of `inorder_petri::net::family`.
    RANDOM
    "exponential(MEAN)": "Exponential.";
    "uniform(LOW, HIGH)": "Uniform between LOW and HIGH.";
    "erlang(STAGES, MEAN)": "The sum of STAGES exponentials with this mean of the sum.";
    "unit()": "Uniform between 0 and 1.";
    "chance(P)": "True with probability P.";
    "below(N)": "A whole number in 0..N, each with the same probability.";
    "empirical(VALUE: WEIGHT, ...)": "One of the values, with probabilities proportional to the weights, which are 1 by default.";
}

words! {
    MEASURES
    "rate(TRANSITION), rate(PLACE), rate(PLACE, VALUE)": "Firings, or arrivals of tokens, per time; with VALUE its sum over the arriving tokens, per time. The fields of the token are names in VALUE.";
    "count(TRANSITION), count(PLACE)": "Number of firings or of arriving tokens.";
    "tokens(PLACE), tokens(PLACE, KEY)": "Mean number of tokens over time; within P(...) and E(...) the number at the time.";
    "peak(PLACE)": "Greatest number of tokens, with the warm-up.";
    "busy(TRANSITION)": "Mean number of firings under way.";
    "stay(PLACE)": "Mean time of a token in a place, by Little's law.";
    "mean(PLACE, VALUE)": "Mean of a value over the arriving tokens, such as `mean(out, now - arrived)`; of a condition, the share of the tokens for which it holds.";
    "quantile(Q, PLACE, VALUE)": "The Q-quantile of a value over the arriving tokens, to 0.2 %; exact where the same value occurs again and again. With 0 and 1 the least and the greatest value of a run.";
    "P(CONDITION)": "Share of the time in which a condition on numbers of tokens holds, such as P(tokens(queue) == 3).";
    "E(NUMBER)": "Mean over time of a number computed from numbers of tokens, such as E(max(0, tokens(queue) - 4)).";
}

words! {
    /// Names that stand for a number in some expressions.
    NAMES
    "colour": "The common key of the arcs of a transition.";
    "now": "The time; not in guards, keys and counts.";
    "started": "The time at which the firing started.";
    "key": "The key, in the number of plain tokens of each key.";
    "true, false": "The two values of type bool.";
}

pub(crate) fn is_statement(word: &str) -> bool {
    STATEMENTS.iter().any(|entry| entry.name() == word)
}

pub(crate) fn is_line_of_transition(word: &str) -> bool {
    LINES_OF_TRANSITION.iter().any(|entry| entry.name() == word)
}
