//! The words and signs of an expression, with their positions.

/// A word or sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Token<'t> {
    Word(&'t str),
    Open,
    Close,
    /// `->`
    To,
    /// `<->`
    Between,
    End,
}

/// A token and where it begins, counted in characters from 1.
pub(crate) type Placed<'t> = (Token<'t>, usize);

/// Splits the text; the last token is [`Token::End`]. Signs need no blanks around them.
pub(crate) fn tokens(text: &str) -> Vec<Placed<'_>> {
    let mut tokens = Vec::new();
    let (mut rest, mut position) = (text, 1);
    loop {
        let trimmed = rest.trim_start();
        position += rest.chars().count() - trimmed.chars().count();
        rest = trimmed;
        let (token, length) = first(rest);
        tokens.push((token, position));
        if token == Token::End {
            return tokens;
        }
        let (taken, after) = rest.split_at(length);
        position += taken.chars().count();
        rest = after;
    }
}

/// The signs that end a word.
const SIGNS: [(&str, Token<'static>); 7] = [
    ("<->", Token::Between),
    ("->", Token::To),
    ("(", Token::Open),
    (")", Token::Close),
    ("&&", Token::Word("and")),
    ("||", Token::Word("or")),
    ("!", Token::Word("not")),
];

fn sign(text: &str) -> Option<(Token<'static>, usize)> {
    let found = SIGNS.iter().find(|(sign, _)| text.starts_with(sign))?;
    Some((found.1, found.0.len()))
}

/// The first token of a text without leading blanks, and its length in bytes.
fn first(text: &str) -> (Token<'_>, usize) {
    if text.is_empty() {
        return (Token::End, 0);
    }
    if let Some(sign) = sign(text) {
        return sign;
    }
    let end = text
        .char_indices()
        .find(|(at, c)| c.is_whitespace() || sign(&text[*at..]).is_some())
        .map_or(text.len(), |(at, _)| at);
    (Token::Word(&text[..end]), end)
}
