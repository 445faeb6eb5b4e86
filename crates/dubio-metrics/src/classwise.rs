//! Gaps between probability and frequency, class by class: what `sce`, `ace` and `tace` share.

use std::ops::Range;
use std::sync::OnceLock;

use rayon::prelude::*;

use crate::binning::edges::right_closed;
use crate::binning::equal_mass::Cuts;
use crate::columns::TILE;
use crate::examples::Examples;
use crate::score::{LANES, Prepared, total};

/// How one class's probabilities are put into cells.
enum Rule {
    /// This many bins `(l, u]` of equal width.
    Width(usize),
    /// Bins of equal mass among the probabilities above a threshold; the others are in none.
    Mass(Cuts, f64),
}

impl Rule {
    fn cells(&self) -> usize {
        match self {
            Self::Width(bins) => *bins,
            Self::Mass(cuts, _) => cuts.cells(),
        }
    }

    /// The cell of a probability; `cells()` when no bin takes it.
    fn cell(&self, p: f64) -> usize {
        match self {
            Self::Width(bins) => right_closed(p, *bins),
            Self::Mass(cuts, threshold) if p > *threshold => cuts.cell(p),
            Self::Mass(cuts, _) => cuts.cells(),
        }
    }

    /// Sum over bins of the absolute gap, from the signed sums per cell.
    fn absolute<const L: usize>(&self, sums: &mut [[f64; L]]) -> [f64; L] {
        let bins = match self {
            Self::Width(bins) => *bins,
            Self::Mass(cuts, _) => {
                cuts.spread(sums);
                cuts.bins()
            }
        };
        std::array::from_fn(|l| sums[..bins].iter().map(|gap| gap[l].abs()).sum())
    }
}

/// `1/C sum_c sum_m n_m/n |freq_cm - conf_cm|` for some way of binning each class.
pub(crate) struct ClassGaps<'a> {
    examples: &'a Examples,
    rules: Vec<Rule>,
    /// Cell of every class of every example, tile after tile; made when first resampled. The
    /// cells stay where the file's own probabilities put them.
    cells: OnceLock<Vec<u16>>,
}

impl<'a> ClassGaps<'a> {
    /// Bins of equal width.
    pub(crate) fn equal_width(examples: &'a Examples, bins: usize) -> Self {
        let rules = (0..examples.classes).map(|_| Rule::Width(bins)).collect();
        Self { examples, rules, cells: OnceLock::new() }
    }

    /// Bins of equal mass among the probabilities above `threshold`.
    pub(crate) fn equal_mass(examples: &'a Examples, bins: usize, threshold: f64) -> Self {
        let tiles: Vec<Range<usize>> = examples.columns.tiles().collect();
        let rules = tiles
            .into_par_iter()
            .flat_map_iter(|tile| {
                let mut columns = vec![Vec::with_capacity(examples.len()); tile.len()];
                let mut row = [0.0; TILE];
                for i in 0..examples.len() {
                    examples.columns.read(i, tile.clone(), &mut row);
                    for (column, &p) in columns.iter_mut().zip(&row) {
                        if p > threshold {
                            column.push(p);
                        }
                    }
                }
                columns
                    .into_iter()
                    .map(move |mut column| Rule::Mass(Cuts::new(&mut column, bins), threshold))
            })
            .collect();
        Self { examples, rules, cells: OnceLock::new() }
    }

    fn widest(&self) -> usize {
        self.rules.iter().map(Rule::cells).max().unwrap_or(0) + 1
    }

    fn cells(&self) -> &[u16] {
        self.cells.get_or_init(|| {
            let examples = self.examples;
            let tiles: Vec<Range<usize>> = examples.columns.tiles().collect();
            let cells = tiles.into_par_iter().flat_map_iter(|tile| {
                let mut row = [0.0; TILE];
                (0..examples.len()).flat_map(move |i| {
                    examples.columns.read(i, tile.clone(), &mut row);
                    let mut cells = [0; TILE];
                    for (class, rule) in self.rules[tile.clone()].iter().enumerate() {
                        cells[class] = rule.cell(row[class]) as u16;
                    }
                    cells
                })
            });
            cells.collect()
        })
    }

    /// Divides the sums of the tiles by the number of examples and classes.
    fn normalise<const L: usize>(
        &self,
        tiles: impl Iterator<Item = [f64; L]>,
        whole: [f64; L],
    ) -> [f64; L] {
        let mut sum = [0.0; L];
        for tile in tiles {
            for l in 0..L {
                sum[l] += tile[l];
            }
        }
        std::array::from_fn(|l| sum[l] / (whole[l] * self.examples.classes as f64))
    }
}

impl Prepared for ClassGaps<'_> {
    fn value(&self, ones: &[[f64; 1]]) -> f64 {
        let tiles: Vec<Range<usize>> = self.examples.columns.tiles().collect();
        let gaps: Vec<[f64; 1]> = tiles
            .into_par_iter()
            .map(|tile| {
                let rules = &self.rules[tile.clone()];
                let mut sums = vec![vec![[0.0]; self.widest()]; rules.len()];
                let mut row = [0.0; TILE];
                for (i, &label) in self.examples.labels.iter().enumerate() {
                    self.examples.columns.read(i, tile.clone(), &mut row);
                    for (class, rule) in rules.iter().enumerate() {
                        let hit = label as usize == tile.start + class;
                        sums[class][rule.cell(row[class])][0] +=
                            row[class] - f64::from(u8::from(hit));
                    }
                }
                let each = rules.iter().zip(&mut sums).map(|(rule, sums)| rule.absolute(sums)[0]);
                [each.sum()]
            })
            .collect();
        self.normalise(gaps.into_iter(), total(ones))[0]
    }

    fn replicates(&self, weights: &[[f64; LANES]]) -> [f64; LANES] {
        let (cells, gaps) = (self.cells(), self.examples.class_gaps());
        let widest = self.widest();
        let size = self.examples.len() * TILE;
        let tiles = cells.chunks(size).zip(gaps.chunks(size)).zip(self.rules.chunks(TILE));
        let per_tile = tiles.map(|((cells, gaps), rules)| {
            let mut sums = vec![[0.0; LANES]; widest * TILE];
            let rows = cells.chunks_exact(TILE).zip(gaps.chunks_exact(TILE)).zip(weights);
            for ((cells, gaps), weight) in rows {
                for class in 0..TILE {
                    let sum = &mut sums[class * widest + usize::from(cells[class])];
                    let gap = f64::from(gaps[class]);
                    for l in 0..LANES {
                        sum[l] += weight[l] * gap;
                    }
                }
            }
            let mut each = [0.0; LANES];
            for (rule, sums) in rules.iter().zip(sums.chunks_mut(widest)) {
                let gap = rule.absolute(sums);
                for l in 0..LANES {
                    each[l] += gap[l];
                }
            }
            each
        });
        self.normalise(per_tile, total(weights))
    }
}

impl Examples {
    /// `p_ic - [y_i = c]`, in tiles of [`TILE`] classes: tile after tile, in each the examples in
    /// order. Padded with zeros to whole tiles. In f32, since only intervals are made of it.
    pub(crate) fn class_gaps(&self) -> &[f32] {
        self.class_gaps.get_or_init(|| {
            let tiles: Vec<Range<usize>> = self.columns.tiles().collect();
            let gaps = tiles.into_par_iter().flat_map_iter(|tile| {
                let mut row = [0.0; TILE];
                self.labels.iter().enumerate().flat_map(move |(i, &label)| {
                    self.columns.read(i, tile.clone(), &mut row);
                    let mut gaps = [0.0; TILE];
                    for (class, gap) in gaps.iter_mut().enumerate().take(tile.len()) {
                        let hit = label as usize == tile.start + class;
                        *gap = (row[class] - f64::from(u8::from(hit))) as f32;
                    }
                    gaps
                })
            });
            gaps.collect()
        })
    }
}
