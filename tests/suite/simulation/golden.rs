//! The timelines that `elbowroom demo` prints, letter by letter.

use elbowroom::engine::Settings;
use elbowroom::simulation::{play, timeline};

fn story(name: &str) -> String {
    let file = format!("examples/{name}.yaml");
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
    play(&file, &std::fs::read_to_string(path).unwrap(), Settings::default()).unwrap()
}

#[test]
fn story_a_is_told_so() {
    insta::assert_snapshot!(story("story-a"));
}

#[test]
fn story_b_is_told_so() {
    insta::assert_snapshot!(story("story-b"));
}

#[test]
fn no_line_is_too_wide() {
    for name in ["story-a", "story-b"] {
        for line in story(name).lines() {
            assert!(line.chars().count() <= timeline::WIDTH, "{line}");
        }
    }
}

#[test]
fn two_plays_are_alike() {
    assert_eq!(story("story-b"), story("story-b"));
}
