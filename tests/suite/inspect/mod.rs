//! `explain` and `plan resize` on dumps: one golden explanation for each reason, and what else can be asked.

mod command;
mod others;
mod planning;
mod reasons;

use elbowroom::config::{Config, Profile};
use elbowroom::inspect::shape::Explanation;
use elbowroom::inspect::{NoAnswer, Objects, Question, WIDTH, inspect, text};
use elbowroom::model::Timestamp;
use elbowroom::resize::ResizePolicy;
use std::path::PathBuf;

/// 2026-12-01T04:00:00Z, when every dump was taken.
pub const NOW: Timestamp = Timestamp::from_seconds(1_796_097_600);

pub fn dump(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/suite/inspect/dumps/{name}.yaml"))
}

pub fn objects(name: &str) -> Objects {
    let path = dump(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut objects = Objects::default();
    objects.read(name, &text).expect("a good dump");
    objects.complete(name).expect("a whole dump");
    objects
}

pub fn question(name: &str) -> Question {
    Question { name: name.to_owned(), ..Question::default() }
}

pub fn with_policy(resize: ResizePolicy) -> Config {
    Config { profiles: vec![Profile { resize, ..Profile::default() }], ..Config::default() }
}

pub fn ask(dump: &str, question: &Question, config: &Config) -> Result<Explanation, NoAnswer> {
    inspect(objects(dump), question, config, NOW)
}

/// The explanation of `shop/cart-0` in that dump.
pub fn explained(dump: &str, config: &Config) -> Explanation {
    ask(dump, &question("cart-0"), config).expect("an explanation")
}

/// As people read it; it keeps to its screen.
pub fn screen(explanation: &Explanation) -> String {
    let screen = text(explanation);
    assert!(screen.starts_with(&format!("Pod {}/", explanation.pod.namespace)), "{screen}");
    assert!(screen.lines().count() <= 40, "{} lines:\n{screen}", screen.lines().count());
    screen.lines().skip(1).for_each(|line| assert!(line.chars().count() <= WIDTH, "too wide: {line}"));
    screen
}
