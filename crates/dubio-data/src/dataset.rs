//! A data set in memory: inputs, answers, groups.

use std::collections::BTreeMap;

/// Images of one size; pixels keep the byte values of the published files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Images {
    /// Colours; 1 for grey, 3 for red, green, blue.
    pub channels: usize,
    /// Rows of pixels.
    pub height: usize,
    /// Pixels in a row.
    pub width: usize,
    /// The value of the brightest possible pixel: 255, or 16 for the 8 x 8 sets.
    pub white: u8,
    /// `[images, channels, height, width]`.
    pub pixels: Vec<u8>,
}

impl Images {
    /// Bytes of one image.
    pub fn size(&self) -> usize {
        self.channels * self.height * self.width
    }

    /// Number of images.
    pub fn len(&self) -> usize {
        self.pixels.len() / self.size()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pixels.is_empty()
    }

    /// One image, `[channels, height, width]`.
    pub fn image(&self, index: usize) -> &[u8] {
        &self.pixels[index * self.size()..(index + 1) * self.size()]
    }
}

/// What a model is shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Inputs {
    /// Images.
    Images(Images),
    /// Rows of numbers, `[examples, width]`.
    Features {
        /// Numbers per example.
        width: usize,
        /// Row after row.
        values: Vec<f64>,
    },
}

/// What a model is to predict.
#[derive(Clone, Debug, PartialEq)]
pub enum Answers {
    /// One of some classes.
    Classes {
        /// Number of classes.
        classes: usize,
        /// True class of each example, below `classes`.
        labels: Vec<u32>,
    },
    /// A number.
    Targets(Vec<f64>),
    /// Nothing: this many examples without labels. A model can predict them, as an OOD set, but not learn from
    /// them.
    Unlabelled(usize),
}

/// A part of a data set, in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// What a model is shown.
    pub inputs: Inputs,
    /// What it is to predict.
    pub answers: Answers,
    /// Groups of examples by name: regions, hospitals, reviewers.
    pub groups: BTreeMap<String, Vec<i64>>,
}

impl Dataset {
    /// Number of examples.
    pub fn len(&self) -> usize {
        match &self.answers {
            Answers::Classes { labels, .. } => labels.len(),
            Answers::Targets(targets) => targets.len(),
            Answers::Unlabelled(examples) => *examples,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the examples of another set; both must be of the same kind and shape.
    pub(crate) fn append(&mut self, other: Self) {
        match (&mut self.inputs, other.inputs) {
            (Inputs::Images(all), Inputs::Images(more)) => all.pixels.extend(more.pixels),
            (Inputs::Features { values: all, .. }, Inputs::Features { values, .. }) => {
                all.extend(values);
            }
            _ => unreachable!("parts of one set are of one kind"),
        }
        match (&mut self.answers, other.answers) {
            (Answers::Classes { labels: all, .. }, Answers::Classes { labels, .. }) => {
                all.extend(labels);
            }
            (Answers::Targets(all), Answers::Targets(more)) => all.extend(more),
            (Answers::Unlabelled(all), Answers::Unlabelled(more)) => *all += more,
            _ => unreachable!("parts of one set are of one kind"),
        }
        for (name, more) in other.groups {
            self.groups.entry(name).or_default().extend(more);
        }
    }

    /// The examples with these indices, in this order.
    pub fn subset(&self, rows: &[u32]) -> Self {
        fn take<T: Copy>(values: &[T], width: usize, rows: &[u32]) -> Vec<T> {
            let starts = rows.iter().map(|&row| row as usize * width);
            starts.flat_map(|start| values[start..start + width].iter().copied()).collect()
        }
        let inputs = match &self.inputs {
            Inputs::Images(images) => Inputs::Images(Images {
                pixels: take(&images.pixels, images.size(), rows),
                ..*images
            }),
            Inputs::Features { width, values } => {
                Inputs::Features { width: *width, values: take(values, *width, rows) }
            }
        };
        let answers = match &self.answers {
            Answers::Classes { classes, labels } => {
                Answers::Classes { classes: *classes, labels: take(labels, 1, rows) }
            }
            Answers::Targets(targets) => Answers::Targets(take(targets, 1, rows)),
            Answers::Unlabelled(_) => Answers::Unlabelled(rows.len()),
        };
        let groups =
            self.groups.iter().map(|(name, all)| (name.clone(), take(all, 1, rows))).collect();
        Self { inputs, answers, groups }
    }
}
