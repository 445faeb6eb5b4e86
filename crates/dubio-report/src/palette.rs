//! One colour, marker and dash for each method, everywhere.
//!
//! Eight colours that stay apart for every kind of colour vision, found by a search over colours that
//! stand out from the page by 3 to 1; markers and dashes tell apart what shares a colour.

/// Colours on a light page.
pub const LIGHT: [&str; 8] =
    ["#2c58df", "#ac2b0a", "#047e4f", "#9f2e9d", "#c68101", "#1e99f2", "#5a5463", "#340591"];
/// Colours on a dark page, in the same order.
pub const DARK: [&str; 8] =
    ["#0387df", "#e53000", "#1dc162", "#ff54ab", "#ffa300", "#62f1fa", "#6a7e62", "#7c5aff"];

/// Everything else that has a colour: name, on a light page, on a dark one.
pub const INK: [(&str, &str, &str); 11] = [
    ("page", "#ffffff", "#14171c"),
    ("card", "#f6f7f9", "#1c2027"),
    ("ink", "#1b1f24", "#e8eaed"),
    ("soft", "#59626d", "#a3acb8"),
    ("rule", "#d5dae0", "#39414c"),
    ("faint", "#e8ebef", "#2a3038"),
    ("link", "#0a55c4", "#7fb6ff"),
    ("over", "#c2410c", "#ff8a4c"),
    ("under", "#1d5fc2", "#6aa9ff"),
    ("good", "#046c41", "#3ddc8c"),
    ("warn", "#8a4b00", "#ffb454"),
];

const MARKERS: [&str; 8] = [
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
    "triangle-left",
];
const DASHES: [&[u8]; 4] = [&[1, 0], &[6, 3], &[2, 2], &[8, 3, 2, 3]];

/// How a method is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    index: usize,
}

impl Style {
    /// The style of the method at this position in the study; all of the first 32 differ.
    pub fn of(index: usize) -> Self {
        Self { index }
    }

    /// As the page names it; [`light`] puts the colour in its place.
    pub fn colour(self) -> String {
        format!("var(--m{})", self.index % LIGHT.len())
    }

    /// Marker of points.
    pub fn marker(self) -> &'static str {
        MARKERS[(self.index + self.index / LIGHT.len()) % MARKERS.len()]
    }

    /// Dash of lines.
    pub fn dash(self) -> &'static [u8] {
        DASHES[self.index / LIGHT.len() % DASHES.len()]
    }
}

/// A text with the names of colours replaced by those of a light page.
pub fn light(text: &str) -> String {
    let methods = LIGHT.iter().enumerate().map(|(i, colour)| (format!("var(--m{i})"), *colour));
    let inks = INK.iter().map(|(name, light, _)| (format!("var(--{name})"), *light));
    methods.chain(inks).fold(text.to_string(), |text, (name, colour)| text.replace(&name, colour))
}

/// The style sheet's definitions of all colours: light, and dark for readers who prefer it or asked for it.
pub fn definitions() -> String {
    let all = |pick: fn(&(&str, &str, &str)) -> String, methods: [&str; 8]| {
        let own = methods.iter().enumerate().map(|(i, colour)| format!("--m{i}:{colour};"));
        INK.iter().map(pick).chain(own).collect::<String>()
    };
    let light = all(|(name, light, _)| format!("--{name}:{light};"), LIGHT);
    let dark = all(|(name, _, dark)| format!("--{name}:{dark};"), DARK);
    format!(
        ":root{{color-scheme:light;{light}}}\
         @media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\
         @media screen{{:root[data-theme=dark]{{color-scheme:dark;{dark}}}}}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    type Rgb = [f64; 3];

    fn linear(colour: &str) -> Rgb {
        std::array::from_fn(|i| {
            let byte = u8::from_str_radix(&colour[1 + 2 * i..3 + 2 * i], 16).expect("a colour");
            let c = f64::from(byte) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn times(matrix: [Rgb; 3], v: Rgb) -> Rgb {
        matrix.map(|row| row.iter().zip(v).map(|(m, x)| m * x).sum())
    }

    fn luminance(colour: &str) -> f64 {
        let [r, g, b] = linear(colour);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    /// WCAG 2.2: contrast ratio.
    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        a.max(b) / a.min(b)
    }

    /// CIE 1976 L*a*b* for the white of sRGB.
    fn lab(rgb: Rgb) -> Rgb {
        let xyz = times(
            [
                [0.4124564, 0.3575761, 0.1804375],
                [0.2126729, 0.7151522, 0.0721750],
                [0.0193339, 0.1191920, 0.9503041],
            ],
            rgb,
        );
        let white = [0.95047, 1.0, 1.08883];
        let f: Rgb = std::array::from_fn(|i| {
            let t = xyz[i] / white[i];
            if t > 216.0 / 24389.0 { t.cbrt() } else { (24389.0 / 27.0 * t + 16.0) / 116.0 }
        });
        [116.0 * f[1] - 16.0, 500.0 * (f[0] - f[1]), 200.0 * (f[1] - f[2])]
    }

    /// Machado, Oliveira, Fernandes 2009, severity 1: how protanopes, deuteranopes and tritanopes see.
    const VISION: [[Rgb; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ],
    ];

    #[test]
    fn colours_stay_apart_for_every_kind_of_colour_vision() {
        for palette in [LIGHT, DARK] {
            for vision in VISION {
                let seen =
                    palette.map(|c| lab(times(vision, linear(c)).map(|v| v.clamp(0.0, 1.0))));
                for a in 0..seen.len() {
                    for b in 0..a {
                        let squares = (0..3).map(|i| (seen[a][i] - seen[b][i]).powi(2));
                        let distance = squares.sum::<f64>().sqrt();
                        assert!(distance > 20.0, "{} {}: {distance}", palette[a], palette[b]);
                    }
                }
            }
        }
    }

    #[test]
    fn everything_stands_out_from_the_page() {
        let (page, card) = (INK[0], INK[1]);
        assert!(LIGHT.iter().all(|colour| contrast(colour, page.1) >= 3.0));
        assert!(DARK.iter().all(|colour| contrast(colour, page.2) >= 3.0));
        for text in ["ink", "soft", "link", "over", "under", "good", "warn"] {
            let (_, light, dark) = INK.iter().find(|ink| ink.0 == text).expect("an ink");
            for (colour, below) in
                [(light, page.1), (light, card.1), (dark, page.2), (dark, card.2)]
            {
                assert!(contrast(colour, below) >= 4.5, "{text} {colour} on {below}");
            }
        }
    }

    #[test]
    fn the_first_thirty_two_methods_are_drawn_differently() {
        let drawn = |i| (Style::of(i).colour(), Style::of(i).marker(), Style::of(i).dash());
        for a in 0..32 {
            for b in 0..a {
                assert_ne!(drawn(a), drawn(b), "{a} {b}");
            }
        }
    }
}
