//! Amounts as people write them.
//!
//! Invariant: no digit is lost; what has no short form is written in full.

use crate::model::Quantity;

const UNITS: [(&str, i64); 4] = [("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)];

/// An amount of a resource: milli-CPU for cpu, else bytes or whole units.
pub(super) fn shown(resource: &str, amount: i64) -> String {
    if resource == "cpu" {
        return if amount % 1000 == 0 { (amount / 1000).to_string() } else { format!("{amount}m") };
    }
    if !matches!(resource, "memory" | "ephemeral-storage") && !resource.starts_with("hugepages-") {
        return amount.to_string();
    }
    for (unit, size) in UNITS {
        if amount.abs() < size {
            continue;
        }
        // Up to two decimals, where they are exact.
        let hundredths = i128::from(amount) * 100;
        if hundredths % i128::from(size) == 0 {
            let hundredths = hundredths / i128::from(size);
            let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
            return format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'));
        }
    }
    amount.to_string()
}

/// An exact quantity of a resource.
pub(super) fn quantity(resource: &str, amount: Quantity) -> String {
    shown(resource, if resource == "cpu" { amount.ceil_milli() } else { amount.ceil_units() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short_where_they_are_round() {
        assert_eq!(shown("cpu", 6000), "6");
        assert_eq!(shown("cpu", 1500), "1500m");
        assert_eq!(shown("memory", 3 << 30), "3Gi");
        assert_eq!(shown("memory", 7 << 29), "3.5Gi");
        assert_eq!(shown("memory", 512 << 20), "512Mi");
        assert_eq!(shown("memory", 1001), "1001");
        assert_eq!(shown("nvidia.com/gpu", 2), "2");
    }
}
