//! Sets to start from: take everybody out, then give back whoever is not needed.
//!
//! Invariant: a set given here covers every shortage within budgets and caps, and can spare nobody.

use super::items::Items;
use super::order::Ranked;

/// Upstream's reprieve (most important first: higher priority, then earlier start), and one that gives the
/// smallest of a priority back first and so tends to fewer victims. Either may be missing: giving back
/// up to a budget first can leave too little, and the rest may be more than the cap.
pub(super) fn reprieves(items: &Items) -> Vec<Ranked> {
    let mut by_importance: Vec<usize> = (0..items.items.len()).collect();
    by_importance.sort_by_key(|&p| {
        let item = &items.items[p];
        (item.group, item.start, std::cmp::Reverse(item.uid_rank))
    });
    let mut smallest_first = by_importance.clone();
    smallest_first.sort_by_key(|&p| (items.items[p].group, items.weight(p)));
    [by_importance, smallest_first].iter().filter_map(|order| reprieve(items, order)).collect()
}

/// Gives back in this order: first what budgets do not allow to take, then whoever the rest can do without.
fn reprieve(items: &Items, order: &[usize]) -> Option<Ranked> {
    let mut spent = vec![0_usize; items.budgets.len()];
    for item in &items.items {
        if let Some(budget) = item.budget {
            spent[budget] += 1;
        }
    }
    let mut out: Vec<usize> = Vec::with_capacity(order.len());
    for &p in order {
        match items.items[p].budget {
            Some(budget) if spent[budget] > items.budgets[budget] => spent[budget] -= 1,
            _ => out.push(p),
        }
    }
    if !items.covers(&out) {
        return None;
    }
    let mut spare: Vec<i128> = (0..items.missing.len())
        .map(|r| out.iter().map(|&p| items.items[p].frees[r]).sum::<i128>() - items.missing[r])
        .collect();
    out.retain(|&p| {
        let frees = &items.items[p].frees;
        let needed = spare.iter().zip(frees).any(|(left, amount)| left < amount);
        if !needed {
            spare.iter_mut().zip(frees).for_each(|(left, amount)| *left -= amount);
        }
        needed
    });
    (out.len() <= items.max_victims).then(|| Ranked::new(items, &out))
}
