//! Taints of nodes and tolerations of Pods.
//!
//! Invariant: the rules are those of the API's `Toleration.ToleratesTaint`.

use super::Str;

/// What a taint does to Pods that do not tolerate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TaintEffect {
    /// New Pods stay away.
    NoSchedule,
    /// New Pods avoid the node where they can.
    PreferNoSchedule,
    /// New Pods stay away and running ones are evicted; the kubelet refuses resizes too.
    NoExecute,
}

/// A taint of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Taint {
    /// Taint key.
    pub key: Str,
    /// Taint value, often empty.
    pub value: Str,
    /// Its effect.
    pub effect: TaintEffect,
}

/// A toleration of a Pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Toleration {
    /// The key; empty (with `any_value`) tolerates every key.
    pub key: Str,
    /// Operator `Exists`: the value does not matter.
    pub any_value: bool,
    /// The value to equal otherwise.
    pub value: Str,
    /// The effect; `None` tolerates all effects.
    pub effect: Option<TaintEffect>,
}

impl Toleration {
    /// Whether this toleration covers `taint`.
    pub fn tolerates(&self, taint: &Taint) -> bool {
        self.effect.is_none_or(|effect| effect == taint.effect)
            && (self.key.is_empty() || self.key == taint.key)
            && (self.any_value || self.value == taint.value)
            && (self.any_value || !self.key.is_empty())
    }
}

/// Whether any of the tolerations covers the taint.
pub fn tolerated(tolerations: &[Toleration], taint: &Taint) -> bool {
    tolerations.iter().any(|one| one.tolerates(taint))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taint(key: &str, value: &str, effect: TaintEffect) -> Taint {
        Taint { key: key.into(), value: value.into(), effect }
    }

    #[test]
    fn exists_without_key_tolerates_everything() {
        let all = Toleration { key: "".into(), any_value: true, value: "".into(), effect: None };
        assert!(all.tolerates(&taint("a", "1", TaintEffect::NoSchedule)));
        assert!(all.tolerates(&taint("b", "", TaintEffect::NoExecute)));
    }

    #[test]
    fn an_effect_limits_a_toleration() {
        let one = Toleration {
            key: "a".into(),
            any_value: true,
            value: "".into(),
            effect: Some(TaintEffect::NoSchedule),
        };
        assert!(one.tolerates(&taint("a", "1", TaintEffect::NoSchedule)));
        assert!(!one.tolerates(&taint("a", "1", TaintEffect::NoExecute)));
    }

    #[test]
    fn equal_compares_the_value() {
        let one = Toleration { key: "a".into(), any_value: false, value: "1".into(), effect: None };
        assert!(one.tolerates(&taint("a", "1", TaintEffect::NoSchedule)));
        assert!(!one.tolerates(&taint("a", "2", TaintEffect::NoSchedule)));
    }
}
