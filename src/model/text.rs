//! Shared strings.
//!
//! Invariant: two [`Str`] are equal exactly when their text is; sharing is only a saving.

use rustc_hash::FxHashSet;
use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// An immutable string that is cheap to clone. Equality looks at the pointer first.
#[derive(Clone, PartialOrd, Ord)]
pub struct Str(Arc<str>);

impl Str {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Str {
    fn default() -> Self {
        Self(Arc::from(""))
    }
}

impl PartialEq for Str {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Eq for Str {}

impl Hash for Str {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl Deref for Str {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Str {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Str {
    fn from(text: &str) -> Self {
        Self(Arc::from(text))
    }
}

impl From<String> for Str {
    fn from(text: String) -> Self {
        Self(Arc::from(text))
    }
}

impl PartialEq<str> for Str {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Str {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Debug for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

/// Gives one shared [`Str`] per distinct text: label keys, namespaces, image names.
#[derive(Debug, Default)]
pub struct Interner {
    known: FxHashSet<Str>,
    sweep_at: usize,
}

impl Interner {
    /// Below this many texts a sweep is not worth its walk.
    const SMALL: usize = 4096;

    /// The shared copy of `text`.
    pub fn intern(&mut self, text: &str) -> Str {
        if let Some(known) = self.known.get(text) {
            return known.clone();
        }
        if self.known.len() >= self.sweep_at.max(Self::SMALL) {
            self.sweep();
        }
        let new = Str::from(text);
        self.known.insert(new.clone());
        new
    }

    /// Forgets what nobody else holds, so that names of Pods long gone do not pile up.
    fn sweep(&mut self) {
        self.known.retain(|text| Arc::strong_count(&text.0) > 1);
        self.sweep_at = self.known.len() * 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_is_shared() {
        let mut interner = Interner::default();
        let (a, b) = (interner.intern("app"), interner.intern("app"));
        assert!(Arc::ptr_eq(&a.0, &b.0));
    }

    #[test]
    fn texts_nobody_holds_are_forgotten() {
        let mut interner = Interner::default();
        let kept = interner.intern("kept");
        for i in 0..Interner::SMALL * 3 {
            interner.intern(&format!("passing-{i}"));
        }
        assert!(interner.known.len() <= Interner::SMALL + 1);
        assert!(interner.known.contains(&kept));
    }
}
