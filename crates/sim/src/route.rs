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

    pub(crate) fn matches(&self, method: &str, path: &str) -> bool {
        let segments = || self.path.split('/').zip(path.split('/'));
        self.method == method
            && self.path.split('/').count() == path.split('/').count()
            && segments().all(|(wanted, given)| wanted == given || wanted.starts_with('{'))
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
}
