// A canvas that writes down, as the drawing operators of PDF, what Vega paints on it. Points are put
// through the current transformation here, so that a path means the same wherever it is painted.
"use strict";
globalThis.PdfCanvas = class {
  constructor(height) {
    this.height = height;
    this.operators = [];
    this.opacities = new Set();
    this.path = [];
    this.states = [];
    this.state = {
      matrix: [1, 0, 0, 1, 0, 0], fillStyle: "#000", strokeStyle: "#000", globalAlpha: 1, lineWidth: 1,
      lineCap: "butt", lineJoin: "miter", miterLimit: 10, font: "11px sans-serif", textAlign: "left", dash: [],
    };
    for (const name of Object.keys(this.state).filter((name) => name !== "matrix" && name !== "dash")) {
      Object.defineProperty(this, name, {
        get: () => this.state[name],
        set: (value) => void (this.state[name] = value),
      });
    }
  }

  write(...parts) {
    this.operators.push(parts.map((part) => (typeof part === "number" ? +part.toFixed(3) : part)).join(" "));
  }
  point(x, y) {
    const [a, b, c, d, e, f] = this.state.matrix;
    return [a * x + c * y + e, this.height - (b * x + d * y + f)];
  }

  save() {
    this.states.push({ ...this.state });
    this.write("q");
  }
  restore() {
    if (this.states.length === 0) return;
    this.state = this.states.pop();
    this.write("Q");
  }
  transform(a, b, c, d, e, f) {
    const [A, B, C, D, E, F] = this.state.matrix;
    this.state.matrix = [
      A * a + C * b, B * a + D * b, A * c + C * d, B * c + D * d, A * e + C * f + E, B * e + D * f + F,
    ];
  }
  setTransform(...matrix) {
    this.state.matrix = matrix;
  }
  translate(x, y) {
    this.transform(1, 0, 0, 1, x, y);
  }
  scale(x, y) {
    this.transform(x, 0, 0, y, 0, 0);
  }
  rotate(angle) {
    this.transform(Math.cos(angle), Math.sin(angle), -Math.sin(angle), Math.cos(angle), 0, 0);
  }
  setLineDash(dash) {
    this.state.dash = dash;
  }
  get lineDashOffset() {
    return 0;
  }
  set lineDashOffset(_) {}

  beginPath() {
    this.path = [];
  }
  add(operator, ...coordinates) {
    const points = [];
    for (let i = 0; i < coordinates.length; i += 2) points.push(...this.point(coordinates[i], coordinates[i + 1]));
    this.path.push([...points.map((v) => +v.toFixed(3)), operator].join(" "));
    if (points.length > 0) this.last = coordinates.slice(-2);
  }
  moveTo(x, y) {
    this.add("m", x, y);
  }
  lineTo(x, y) {
    this.add(this.path.length === 0 ? "m" : "l", x, y);
  }
  bezierCurveTo(...points) {
    this.add("c", ...points);
  }
  quadraticCurveTo(x1, y1, x, y) {
    const [x0, y0] = this.last;
    const third = (a, b) => a + (2 / 3) * (b - a);
    this.add("c", third(x0, x1), third(y0, y1), third(x, x1), third(y, y1), x, y);
  }
  closePath() {
    if (this.path.length > 0) this.path.push("h");
  }
  rect(x, y, width, height) {
    this.moveTo(x, y);
    this.lineTo(x + width, y);
    this.lineTo(x + width, y + height);
    this.lineTo(x, y + height);
    this.closePath();
  }
  // An arc in pieces of at most a quarter, each a cubic.
  arc(x, y, radius, start, end, backwards) {
    const turn = 2 * Math.PI;
    let sweep = end - start;
    if (Math.abs(sweep) >= turn) sweep = backwards ? -turn : turn;
    else if (!backwards && sweep < 0) sweep += turn;
    else if (backwards && sweep > 0) sweep -= turn;
    const pieces = Math.max(1, Math.ceil(Math.abs(sweep) / (Math.PI / 2) - 1e-9));
    const step = sweep / pieces;
    const reach = (4 / 3) * Math.tan(step / 4) * radius;
    this.lineTo(x + radius * Math.cos(start), y + radius * Math.sin(start));
    for (let i = 0; i < pieces; i++) {
      const [a, b] = [start + i * step, start + (i + 1) * step];
      this.add(
        "c",
        x + radius * Math.cos(a) - reach * Math.sin(a), y + radius * Math.sin(a) + reach * Math.cos(a),
        x + radius * Math.cos(b) + reach * Math.sin(b), y + radius * Math.sin(b) - reach * Math.cos(b),
        x + radius * Math.cos(b), y + radius * Math.sin(b),
      );
    }
  }

  colour(style) {
    const parsed = vega.color?.(style) ?? null;
    const [r, g, b, alpha] = parsed ? [parsed.r, parsed.g, parsed.b, parsed.opacity] : rgb(style);
    return { components: [r, g, b].map((v) => +(v / 255).toFixed(4)), alpha };
  }
  opacity(alpha) {
    const percent = Math.round(100 * Math.min(1, Math.max(0, alpha * this.state.globalAlpha)));
    this.opacities.add(percent);
    this.write(`/A${percent}`, "gs");
  }
  fill() {
    const { components, alpha } = this.colour(this.state.fillStyle);
    this.opacity(alpha);
    this.write(...components, "rg", ...this.path, "f");
  }
  stroke() {
    const { components, alpha } = this.colour(this.state.strokeStyle);
    const { lineWidth, lineCap, lineJoin, miterLimit, dash } = this.state;
    this.opacity(alpha);
    this.write(...components, "RG", lineWidth, "w", { butt: 0, round: 1, square: 2 }[lineCap] ?? 0, "J");
    this.write({ miter: 0, round: 1, bevel: 2 }[lineJoin] ?? 0, "j", miterLimit, "M");
    this.write(`[${dash.every((v) => v === 0) || (dash.length === 2 && dash[1] === 0) ? "" : dash.join(" ")}]`, "0 d");
    this.write(...this.path, "S");
  }
  clip() {
    this.write(...this.path, "W n");
    this.path = [];
  }
  fillRect(x, y, width, height) {
    const kept = this.path;
    this.path = [];
    this.rect(x, y, width, height);
    this.fill();
    this.path = kept;
  }
  clearRect() {}

  measureText(text) {
    const { size, weight } = font(this.state.font);
    return { width: textWidth(text, size, weight) };
  }
  fillText(text, x, y) {
    const { size, weight } = font(this.state.font);
    const width = textWidth(text, size, weight);
    const shift = { center: width / 2, right: width, end: width }[this.state.textAlign] ?? 0;
    const [a, b, c, d] = this.state.matrix;
    const { components, alpha } = this.colour(this.state.fillStyle);
    this.opacity(alpha);
    this.write("BT", ...components, "rg", weight === "bold" ? "/F2" : "/F1", size, "Tf");
    this.write(a, -b, -c, d, ...this.point(x - shift, y), "Tm", `(${latin(text)})`, "Tj ET");
  }
  strokeText() {}
};

// Size and weight of a font like `600 11.5px Helvetica`.
function font(text) {
  const size = /([\d.]+)px/.exec(text);
  const weight = /\b(bold|[6-9]00)\b/.test(text) ? "bold" : "normal";
  return { size: size ? Number(size[1]) : 11, weight };
}

function rgb(style) {
  const short = /^#(.)(.)(.)$/.exec(style);
  const hex = short ? short.slice(1).map((v) => v + v) : /^#(..)(..)(..)$/.exec(style)?.slice(1);
  if (hex) return [...hex.map((v) => parseInt(v, 16)), 1];
  const numbers = /^rgba?\(([^)]*)\)$/.exec(style)?.[1].split(",").map(Number);
  if (numbers) return [numbers[0], numbers[1], numbers[2], numbers[3] ?? 1];
  return { black: [0, 0, 0, 1], white: [255, 255, 255, 1], transparent: [0, 0, 0, 0] }[style] ?? [0, 0, 0, 1];
}

// A text in the encoding of the standard fonts, as octal where it is not plain.
function latin(text) {
  const special = { "−": 0x96, "–": 0x96, "—": 0x97, "…": 0x85, "’": 0x92, "‘": 0x91, "“": 0x93, "”": 0x94, "•": 0x95 };
  let out = "";
  for (const letter of String(text)) {
    const code = special[letter] ?? letter.codePointAt(0);
    if (code > 255) out += "?";
    else if (code < 32 || code > 126 || "()\\".includes(letter)) out += `\\${code.toString(8).padStart(3, "0")}`;
    else out += letter;
  }
  return out;
}
