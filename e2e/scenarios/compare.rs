//! That the comparison with kube-scheduler still works: one case of it, whole.

use anyhow::{Context as _, Result, anyhow, ensure};

use crate::compare::table::table;
use crate::compare::{Case, Contender, files, id, play};
use crate::harness::World;

/// G: the budget holds with one, is broken by the other, and the table tells so.
pub async fn kube_scheduler_and_elbowroom_play_the_same_case(world: &World) -> Result<()> {
    let path = files()?.into_iter().find(|path| id(path) == "g").context("no case g")?;
    let case = Case::read(&path)?;
    let plays = Contender::BOTH.map(|contender| play(&world.suite, &case, contender));
    let rows = futures::future::join_all(plays).await;
    for row in &rows {
        let outcome = row.outcome.as_ref().map_err(|error| anyhow!("{}: {error}", row.contender.name()))?;
        let (victims, broken): (&[&str], usize) = match row.contender {
            Contender::KubeScheduler => (&["v"], 1),
            Contender::Elbowroom => (&[], 0),
        };
        let name = row.contender.name();
        ensure!(outcome.victims == victims, "{name} took {:?}", outcome.victims);
        ensure!(outcome.budgets_broken == broken, "{name} broke {} budgets", outcome.budgets_broken);
        ensure!(row.disagreement().is_none(), "{name}: {:?}", row.disagreement());
    }
    let table = table(&rows);
    for told in
        ["| kube-scheduler | 1: v | 1 |", "| elbowroom | none | 0 |", "BlockedByPDB", "stays Deferred"]
    {
        ensure!(table.contains(told), "the table does not tell {told}:\n{table}");
    }
    Ok(())
}
