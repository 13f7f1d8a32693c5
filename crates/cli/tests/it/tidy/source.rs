//! A Rust file as a flat list of tokens, so that rules see code and never a comment or a string.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A file with its tokens.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
    tokens: Vec<Token>,
}

/// A word, a sign, a bracket, or `""` for any literal.
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

impl Source {
    /// Takes a file apart, which must be one that the compiler can read.
    pub(crate) fn read(path: &str, text: &str) -> Self {
        let stream: TokenStream = text.parse().unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut tokens = Vec::new();
        flatten(stream, &mut tokens);
        Self { path: path.to_owned(), text: text.to_owned(), tokens }
    }

    /// Returns all tokens.
    pub(crate) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Returns the tokens that go into the product.
    pub(crate) fn production(&self) -> &[Token] {
        if self.is_test() { &[] } else { &self.tokens[..self.tests_at().unwrap_or(self.tokens.len())] }
    }

    /// Returns how many lines stand before the tests.
    pub(crate) fn production_lines(&self) -> usize {
        match self.tests_at() {
            _ if self.is_test() => 0,
            Some(at) => self.tokens[at].line - 1,
            None => self.text.lines().count(),
        }
    }

    /// Returns name, line and number of lines of every function that has a body.
    pub(crate) fn functions(&self) -> impl Iterator<Item = (&str, usize, usize)> {
        find(&self.tokens, "fn").filter_map(|at| {
            let end = self.tokens.get(body_end(&self.tokens, at)?)?.line;
            let line = self.tokens[at].line;
            Some((self.tokens[at + 1].text.as_str(), line, end - line + 1))
        })
    }

    /// Returns the number of lines of every function that has a body.
    pub(crate) fn function_lines(&self) -> impl Iterator<Item = usize> {
        self.functions().map(|(_, _, lines)| lines)
    }

    /// Returns where `#[cfg(test)] mod tests` begins.
    fn tests_at(&self) -> Option<usize> {
        find(&self.tokens, "# [ cfg ( test ) ]").find(|at| {
            let item = &self.tokens[after_attributes(&self.tokens, *at)..];
            starts(item, "mod tests") || starts(item, "pub ( crate ) mod tests")
        })
    }

    /// Tells whether the whole file is there for tests only.
    fn is_test(&self) -> bool {
        self.path.starts_with("crates/stories/")
            || self.path.ends_with("/tests.rs")
            || ["/tests/", "/examples/", "/benches/"].iter().any(|folder| self.path.contains(folder))
    }
}

/// Returns every place where these tokens, written with spaces in between, follow each other.
pub(crate) fn find<'a>(tokens: &'a [Token], pattern: &'a str) -> impl Iterator<Item = usize> + 'a {
    (0..tokens.len()).filter(move |at| starts(&tokens[*at..], pattern))
}

/// Tells whether the tokens begin like this.
pub(crate) fn starts(tokens: &[Token], pattern: &str) -> bool {
    let mut tokens = tokens.iter();
    pattern.split(' ').all(|word| tokens.next().is_some_and(|token| token.text == word))
}

/// Returns the place of the bracket that closes the first one opened at or after a place.
pub(crate) fn closing(tokens: &[Token], from: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if depth == 1 => return at,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
    }
    tokens.len()
}

/// Returns where the body of the function ends whose `fn` stands here, if it has one.
fn body_end(tokens: &[Token], at: usize) -> Option<usize> {
    let named = |token: &Token| token.text.starts_with(|first: char| first.is_alphabetic() || first == '_');
    tokens.get(at + 1).filter(|token| named(token))?;
    let mut place = at + 2;
    loop {
        match tokens.get(place)?.text.as_str() {
            ";" => return None,
            "{" => return Some(closing(tokens, place)),
            "(" | "[" => place = closing(tokens, place) + 1,
            _ => place += 1,
        }
    }
}

fn after_attributes(tokens: &[Token], mut at: usize) -> usize {
    while starts(&tokens[at..], "# [") {
        at = closing(tokens, at) + 1;
    }
    at
}

fn flatten(stream: TokenStream, into: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::None => ("", ""),
                };
                into.push(Token { text: open.to_owned(), line });
                flatten(group.stream(), into);
                into.push(Token { text: close.to_owned(), line: group.span_close().start().line });
            }
            TokenTree::Ident(word) => into.push(Token { text: word.to_string(), line }),
            TokenTree::Literal(_) => into.push(Token { text: "\"\"".to_owned(), line }),
            TokenTree::Punct(sign) => into.push(Token { text: sign.to_string(), line }),
        }
    }
}
