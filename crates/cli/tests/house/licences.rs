//! Every dependency may be used by anybody for anything.

use crate::support::packages;

/// Licences that ask for nothing but their own text.
const PERMISSIVE: [&str; 8] =
    ["MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Unicode-3.0", "Unlicense", "Zlib"];

/// Whether an SPDX expression can be met with permissive licences alone.
fn is_permissive(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    let one = |name: &str| PERMISSIVE.contains(&name.trim_matches(['(', ')', ' ']));
    let all = |part: &str| {
        // An exception only widens what a licence permits.
        part.split(" AND ").all(|name| one(name.split(" WITH ").next().unwrap_or_default()))
    };
    // `(A OR B) AND C` binds the other way round than `A OR B AND C`.
    if expression.contains('(') {
        return expression.split(" AND ").all(|part| part.split(" OR ").any(one));
    }
    expression.split(" OR ").any(all)
}

#[test]
fn the_licences_of_all_dependencies_are_permissive() {
    let packages = packages();
    assert!(packages.len() > 20, "{} packages", packages.len());
    for package in packages {
        let (name, licence) = (&package["name"], package["license"].as_str().unwrap_or_default());
        assert!(is_permissive(licence), "{name} is under `{licence}`");
    }
}

#[test]
fn expressions_are_read_as_they_are_meant() {
    for good in [
        "MIT",
        "MIT OR GPL-3.0",
        "MIT/Apache-2.0",
        "(MIT OR Apache-2.0) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception OR GPL-2.0",
    ] {
        assert!(is_permissive(good), "{good}");
    }
    for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Apache-2.0) AND GPL-3.0", "LGPL-2.1 OR MPL-2.0"] {
        assert!(!is_permissive(bad), "{bad}");
    }
}

#[test]
fn our_own_licences_lie_beside_the_code() {
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        assert!(crate::support::root().join(name).is_file(), "{name}");
    }
    for package in packages().iter().filter(|p| p["source"].is_null()) {
        assert_eq!(package["license"], "MIT OR Apache-2.0", "{}", package["name"]);
    }
}
