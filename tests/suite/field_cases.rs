//! `docs/field-cases.md` against the tests that it names.
//!
//! Invariant: every test that the page names is there, and every field case that is tested is on the page.

use super::documentation::{quoted, read};
use std::collections::BTreeSet;
use std::path::Path;

/// Names of the functions in these files that take part in a test run.
fn functions(folder: &str, wanted: fn(&str) -> bool, into: &mut BTreeSet<String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    for entry in std::fs::read_dir(&folder).expect("a folder of tests") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if !wanted(&name) {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source file");
        let lines = text.lines().filter_map(|line| {
            let rest = line.strip_prefix("fn ").or_else(|| line.strip_prefix("pub async fn "))?;
            rest.split_once('(').map(|(name, _)| name.to_owned())
        });
        into.extend(lines);
    }
}

/// `c` and digits at the beginning, as `C61` on the page.
fn cases(name: &str) -> impl Iterator<Item = String> + '_ {
    let number = |part: &&str| {
        part.strip_prefix('c')
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|c| c.is_ascii_digit()))
    };
    name.split(['_', '-']).take_while(number).map(str::to_uppercase)
}

#[test]
fn every_field_case_is_listed_with_tests_that_exist() {
    let mut there = BTreeSet::new();
    let source: fn(&str) -> bool = |name| name.ends_with(".rs") && name != "mod.rs";
    functions("tests/suite/simulation/field_cases", source, &mut there);
    let of_cases: BTreeSet<String> = there.clone();
    functions("e2e/scenarios", source, &mut there);

    let page = read("docs/field-cases.md");
    let mut listed = BTreeSet::new();
    let mut named = BTreeSet::new();
    for row in page.lines().filter(|line| line.starts_with("| ") && line.contains('`')) {
        let case = row.split('|').nth(1).unwrap_or_default().trim().to_owned();
        for name in quoted(row) {
            assert!(there.contains(name), "{case} names a test that is not there: {name}");
            let own: Vec<String> = cases(name).collect();
            assert!(own.is_empty() || own.contains(&case), "{name} is in the row of {case}");
            named.insert(name.to_owned());
        }
        listed.insert(case);
    }
    for name in there.iter().filter(|name| cases(name).next().is_some()) {
        assert!(named.contains(name), "{name} is not on the page");
    }
    assert!(of_cases.iter().filter(|name| cases(name).next().is_some()).count() > 40, "{of_cases:?}");
    for entry in
        std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios")).expect("scenarios")
    {
        let file = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        for case in cases(file.trim_end_matches(".yaml")) {
            assert!(listed.contains(&case), "{file} is not on the page");
        }
    }
}
