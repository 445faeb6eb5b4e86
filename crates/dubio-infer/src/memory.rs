//! What a rule carries from one step to the next, part by part, to be written and to be read back.

use std::borrow::Cow;

/// The parts of a rule's state by name.
pub struct Memory<'a, V> {
    pub(crate) slots: Vec<(Cow<'static, str>, Slot<'a, V>)>,
}

/// A part of a rule's state. Vectors are as long as the parameters.
pub(crate) enum Slot<'a, V> {
    Vector(&'a mut V),
    Optional(&'a mut Option<V>),
    Vectors(&'a mut Vec<V>),
    Count(&'a mut u64),
    Number(&'a mut f64),
    Numbers(&'a mut Vec<f64>),
}

impl<'a, V> Memory<'a, V> {
    /// The memory of a rule that carries nothing.
    pub fn none() -> Self {
        Self { slots: Vec::new() }
    }

    fn with(mut self, name: &'static str, slot: Slot<'a, V>) -> Self {
        self.slots.push((Cow::Borrowed(name), slot));
        self
    }

    /// With a vector.
    pub fn vector(self, name: &'static str, vector: &'a mut V) -> Self {
        self.with(name, Slot::Vector(vector))
    }

    /// With a vector that may not be there yet.
    pub fn optional(self, name: &'static str, vector: &'a mut Option<V>) -> Self {
        self.with(name, Slot::Optional(vector))
    }

    /// With a list of vectors.
    pub fn vectors(self, name: &'static str, list: &'a mut Vec<V>) -> Self {
        self.with(name, Slot::Vectors(list))
    }

    /// With a count.
    pub fn count(self, name: &'static str, count: &'a mut u64) -> Self {
        self.with(name, Slot::Count(count))
    }

    /// With a number.
    pub fn number(self, name: &'static str, number: &'a mut f64) -> Self {
        self.with(name, Slot::Number(number))
    }

    /// With a list of numbers.
    pub fn numbers(self, name: &'static str, list: &'a mut Vec<f64>) -> Self {
        self.with(name, Slot::Numbers(list))
    }

    /// The same as the memory of the `index`-th of several things of one kind, whose parts have the same names.
    pub fn of(mut self, index: usize) -> Self {
        for (name, _) in &mut self.slots {
            *name = Cow::Owned(format!("{index}.{name}"));
        }
        self
    }

    /// With all that another memory holds.
    pub fn and(mut self, other: Self) -> Self {
        self.slots.extend(other.slots);
        self
    }
}
