// Widths of Helvetica and Helvetica-Bold for the characters from space to tilde, in thousandths of the
// size: the metrics that Adobe published for the fonts that every PDF reader has.
"use strict";
const HELVETICA = [
  278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
  556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
  722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
  556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
  260, 334, 584,
];
const HELVETICA_BOLD = [
  278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
  556, 556, 556, 333, 333, 584, 584, 584, 611, 975, 722, 722, 722, 722, 667, 611, 778, 722, 278, 556, 722, 611, 833,
  722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584, 556, 333, 556, 611, 556, 611,
  556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611, 611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389,
  280, 389, 584,
];
// What is not among them: a minus and the like are as wide as a figure, three dots as wide as an M.
const OTHERS = { "−": 584, "–": 556, "—": 1000, "…": 1000, "±": 584, "°": 400 };

const isBold = (weight) => weight === "bold" || Number(weight) >= 600;

// The width of a text in points.
globalThis.textWidth = (text, size, weight) => {
  const table = isBold(weight) ? HELVETICA_BOLD : HELVETICA;
  let sum = 0;
  for (const letter of String(text)) sum += OTHERS[letter] ?? table[letter.codePointAt(0) - 32] ?? 556;
  return (sum * size) / 1000;
};
