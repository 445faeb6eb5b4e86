//! Parts of member predictions, read in place: some examples, some members, at temperatures.

use std::ops::Range;

use crate::columns::Columns;
use crate::distributions::Kind;
use crate::members::{Form, Members};

/// Some consecutive examples of a source.
pub struct Rows<'a> {
    source: &'a dyn Members,
    rows: Range<usize>,
}

impl<'a> Rows<'a> {
    /// These rows, which the source must have.
    pub fn new(source: &'a dyn Members, rows: Range<usize>) -> Self {
        assert!(rows.end <= source.examples(), "rows {rows:?} of {}", source.examples());
        Self { source, rows }
    }
}

impl Members for Rows<'_> {
    fn members(&self) -> usize {
        self.source.members()
    }
    fn examples(&self) -> usize {
        self.rows.len()
    }
    fn width(&self) -> usize {
        self.source.width()
    }
    fn read(&self, member: usize, rows: Range<usize>, out: &mut [f64]) {
        let start = self.rows.start;
        self.source.read(member, start + rows.start..start + rows.end, out);
    }
}

/// Some members of one source or of several, in any order.
pub struct Chosen<'a> {
    members: Vec<(&'a dyn Members, usize)>,
}

impl<'a> Chosen<'a> {
    /// These members of one source.
    pub fn of(source: &'a dyn Members, members: impl IntoIterator<Item = usize>) -> Self {
        Self::new(members.into_iter().map(|member| (source, member)))
    }

    /// Members of any sources, which must have the same examples; at least one.
    pub fn new(members: impl IntoIterator<Item = (&'a dyn Members, usize)>) -> Self {
        let members: Vec<(&dyn Members, usize)> = members.into_iter().collect();
        assert!(!members.is_empty(), "no member was chosen");
        Self { members }
    }
}

impl Members for Chosen<'_> {
    fn members(&self) -> usize {
        self.members.len()
    }
    fn examples(&self) -> usize {
        self.members[0].0.examples()
    }
    fn width(&self) -> usize {
        self.members[0].0.width()
    }
    fn read(&self, member: usize, rows: Range<usize>, out: &mut [f64]) {
        let (source, member) = self.members[member];
        source.read(member, rows, out);
    }
}

/// Members as logits, each multiplied by its own inverse temperature.
pub struct Tempered<'a> {
    source: &'a dyn Members,
    form: Form,
    betas: Vec<f64>,
}

impl<'a> Tempered<'a> {
    /// With a temperature for each member.
    pub fn new(source: &'a dyn Members, form: Form, temperatures: &[f64]) -> Self {
        assert_eq!(source.members(), temperatures.len(), "a temperature for each member");
        Self { source, form, betas: temperatures.iter().map(|t| 1.0 / t).collect() }
    }

    /// The form of the numbers that it gives.
    pub const FORM: Form = Form::Logits;
}

impl Members for Tempered<'_> {
    fn members(&self) -> usize {
        self.source.members()
    }
    fn examples(&self) -> usize {
        self.source.examples()
    }
    fn width(&self) -> usize {
        self.source.width()
    }
    fn read(&self, member: usize, rows: Range<usize>, out: &mut [f64]) {
        self.source.read(member, rows, out);
        into_logits(self.form, out);
        out.iter_mut().for_each(|x| *x *= self.betas[member]);
    }
}

/// Numbers of any form as logits.
pub(crate) fn into_logits(form: Form, values: &mut [f64]) {
    if form == Form::Probs {
        values.iter_mut().for_each(|p| *p = p.ln());
    }
}

/// The mean of the members as the one member of an ensemble, as probabilities.
pub(crate) struct Mean<'a>(pub &'a Columns);

impl Members for Mean<'_> {
    fn members(&self) -> usize {
        1
    }
    fn examples(&self) -> usize {
        self.0.len()
    }
    fn width(&self) -> usize {
        self.0.classes()
    }
    fn read(&self, _: usize, rows: Range<usize>, out: &mut [f64]) {
        let all = self.0.rows(Kind::P, rows.clone());
        for (row, out) in rows.zip(out.chunks_exact_mut(self.width())) {
            out.copy_from_slice(all.get(row));
        }
    }
}
