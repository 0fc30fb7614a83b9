//! Paths as text: what they come to, without asking any file system.

/// A relative path without `.`, `..` and doubled slashes; nothing where it leaves the place it starts from, or
/// where it is absolute. The empty path stands for the place itself.
pub fn relative(path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
    joined(path)
}

/// An absolute path in the same manner. Above the root is the root, as everywhere in Unix.
pub fn absolute(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = vec![];
    for part in path.strip_prefix('/')?.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    Some(format!("/{}", parts.join("/")))
}

/// A path as seen from `root`, whether it is given absolute or relative to the root; nothing where it is outside.
pub fn within(root: &str, path: &str) -> Option<String> {
    if !path.starts_with('/') {
        return relative(path);
    }
    let root = absolute(root)?;
    let path = absolute(path)?;
    if root == "/" {
        return path.strip_prefix('/').map(str::to_owned);
    }
    match path.strip_prefix(&root)? {
        "" => Some(String::new()),
        rest => rest.strip_prefix('/').map(str::to_owned),
    }
}

/// Where a symbolic link leads that stands at the relative path `link`; nothing where that is outside.
pub fn link_target(link: &str, target: &str) -> Option<String> {
    if target.starts_with('/') {
        return None;
    }
    let folder = link.rsplit_once('/').map_or("", |(folder, _)| folder);
    joined(&format!("{folder}/{target}"))
}

fn joined(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = vec![];
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e_82_paths_come_to_what_they_mean() {
        assert_eq!(relative("./src//a.rs").as_deref(), Some("src/a.rs"));
        assert_eq!(relative("src/../secrets").as_deref(), Some("secrets"));
        assert_eq!(relative("../secrets"), None);
        assert_eq!(relative("src/../../x"), None);
        assert_eq!(relative("/etc/passwd"), None);
        assert_eq!(absolute("/a/./b/../../../c").as_deref(), Some("/c"));
        assert_eq!(absolute("a"), None);
    }

    #[test]
    fn a_path_is_seen_from_the_root() {
        assert_eq!(within("/p/", "/p/src/a").as_deref(), Some("src/a"));
        assert_eq!(within("/p", "/p").as_deref(), Some(""));
        assert_eq!(within("/p", "/project/a"), None);
        assert_eq!(within("/p", "/p/../q"), None);
        assert_eq!(within("/p", "src/a").as_deref(), Some("src/a"));
        assert_eq!(within("/", "/a").as_deref(), Some("a"));
    }

    #[test]
    fn links_lead_somewhere_or_outside() {
        assert_eq!(link_target("a/b/link", "../c").as_deref(), Some("a/c"));
        assert_eq!(link_target("link", "../c"), None);
        assert_eq!(link_target("a/link", "/etc"), None);
    }
}
