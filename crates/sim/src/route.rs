//! A route as people write it: `POST /repos/{owner}/{repo}/issues`.

use std::fmt;

/// A method and a path whose `{parts}` stand for any one segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Route {
    method: String,
    path: String,
}

impl Route {
    /// Reads a route. Panics if it is none: a fault that never strikes would make its test pass for nothing.
    pub(crate) fn parse(text: &str) -> Self {
        let parts = text.split_once(' ').filter(|(_, path)| path.starts_with('/'));
        let Some((method, path)) = parts else { panic!("`{text}` is no route such as `GET /user`") };
        Self { method: method.to_owned(), path: path.to_owned() }
    }

    /// The same route with this in front of its path.
    pub(crate) fn below(self, base: &str) -> Self {
        Self { path: format!("{base}{}", self.path), ..self }
    }

    pub(crate) fn method(&self) -> &str {
        &self.method
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn matches(&self, method: &str, path: &str) -> bool {
        self.method == method && fits(&self.path, path)
    }
}

/// Whether a pattern stands for a path; a last part such as `{*name}` stands for all that is left of it.
fn fits(pattern: &str, path: &str) -> bool {
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return true,
            (Some(rest), Some(_)) if rest.starts_with("{*") => return true,
            (Some(part), Some(segment)) if part == segment || part.starts_with('{') => {}
            _ => return false,
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_stands_for_one_segment() {
        let route = Route::parse("GET /repos/{owner}/{repo}");
        let matches = |method, path| route.matches(method, path);
        assert!(matches("GET", "/repos/octo/garden"));
        assert!(!matches("POST", "/repos/octo/garden"));
        assert!(!matches("GET", "/repos/octo/garden/issues"));
        assert!(!matches("GET", "/users/octo/garden"));
    }

    #[test]
    fn a_last_part_with_a_star_stands_for_the_rest() {
        let route = Route::parse("GET /git/ref/{*name}");
        assert!(route.matches("GET", "/git/ref/heads/main"));
        assert!(!route.matches("GET", "/git/ref"));
    }
}
