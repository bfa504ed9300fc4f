//! The outcomes side by side, as a Markdown table.

use super::case::Case;
use super::contender::Contender;
use super::play::Outcome;

/// One line of the table.
pub struct Row<'a> {
    /// The case.
    pub case: &'a Case,
    /// Who played it.
    pub contender: Contender,
    /// What came of it, or why nothing did.
    pub outcome: Result<Outcome, String>,
}

const COLUMNS: [&str; 8] = [
    "case",
    "scheduler",
    "victims",
    "budgets broken",
    "asked twice",
    "events on the growing Pod",
    "Deferred until allocated",
    "what the Pod says",
];

impl Row<'_> {
    /// What elbowroom did that the same file without a cluster does not; `None` when they agree.
    pub fn disagreement(&self) -> Option<String> {
        let outcome = match (&self.outcome, self.contender) {
            (Err(error), _) => {
                return Some(format!("{} with {}: {error}", self.case.id, self.contender.name()));
            }
            (Ok(_), Contender::KubeScheduler) => return None,
            (Ok(outcome), Contender::Elbowroom) => outcome,
        };
        // Who of several equals goes is decided by UIDs, which differ.
        let (real, simulated) = (&outcome.victims, &self.case.simulated);
        let differs = real.len() != simulated.len();
        differs.then(|| format!("{}: victims {real:?}, in the simulation {simulated:?}", self.case.id))
    }

    fn cells(&self) -> Vec<String> {
        let case = match self.contender {
            Contender::KubeScheduler => format!("**{}** {}", self.case.id.to_uppercase(), self.case.title),
            Contender::Elbowroom => String::new(),
        };
        let mut cells = vec![case, self.contender.name().to_owned()];
        match &self.outcome {
            Err(error) => cells.push(format!("not played: {error}")),
            Ok(outcome) => {
                let events: Vec<_> = outcome
                    .events
                    .iter()
                    .map(
                        |(reason, count)| {
                            if *count == 1 { reason.clone() } else { format!("{reason} ×{count}") }
                        },
                    )
                    .collect();
                let count = outcome.victims.len();
                cells.push(match count {
                    0 => "none".to_owned(),
                    _ => format!("{count}: {}", outcome.victims.join(", ")),
                });
                cells.push(outcome.budgets_broken.to_string());
                cells.push(outcome.twice.map_or_else(|| "?".to_owned(), |twice| twice.to_string()));
                cells.push(joined(&events));
                cells.push(joined(&outcome.wishes));
                cells.push(joined(&outcome.says));
            }
        }
        cells.resize(COLUMNS.len(), String::new());
        cells
    }
}

fn joined(parts: &[String]) -> String {
    if parts.is_empty() { "nothing".to_owned() } else { parts.join("; ") }
}

/// The table, and a line that adds it up.
pub fn table(rows: &[Row<'_>]) -> String {
    let line = |cells: &[String]| {
        let escaped: Vec<_> = cells.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
        format!("| {} |\n", escaped.join(" | "))
    };
    let mut text = line(&COLUMNS.map(str::to_owned)) + &line(&COLUMNS.map(|_| "---".to_owned()));
    rows.iter().for_each(|row| text += &line(&row.cells()));
    text.push('\n');
    for contender in Contender::BOTH {
        let of = rows.iter().filter(|row| row.contender == contender);
        let outcomes: Vec<_> = of.filter_map(|row| row.outcome.as_ref().ok()).collect();
        let sum = |part: fn(&Outcome) -> usize| outcomes.iter().map(|outcome| part(outcome)).sum::<usize>();
        text += &format!(
            "{}: {} cases, {} victims, {} budgets broken, {} asked twice, {} events on growing Pods.\n\n",
            contender.name(),
            outcomes.len(),
            sum(|outcome| outcome.victims.len()),
            sum(|outcome| outcome.budgets_broken),
            sum(|outcome| outcome.twice.unwrap_or_default()),
            sum(|outcome| outcome
                .events
                .values()
                .map(|count| usize::try_from(*count).unwrap_or_default())
                .sum()),
        );
    }
    text
}
