// What Vega expects of its host, where there is no browser; and the two ways to draw.
"use strict";
globalThis.structuredClone ??= (value) => JSON.parse(JSON.stringify(value));
globalThis.console = { log() {}, info() {}, debug() {}, warn() {}, error() {} };
globalThis.setTimeout = (task) => void Promise.resolve().then(task);
globalThis.clearTimeout = () => {};
globalThis.answer = globalThis.wrong = null;

// The view of `{spec, config}`, texts so many times as wide as they are in Helvetica.
function viewOf(text, times) {
  const { spec, config } = JSON.parse(text);
  vega.textMetrics.width = (item, line) => times * textWidth(line ?? item.text, item.fontSize ?? 11, item.fontWeight);
  const compiled = vegaLite.compile(spec, { config }).spec;
  return new vega.View(vega.parse(compiled), { renderer: "none" });
}

function answering(promise) {
  globalThis.answer = globalThis.wrong = null;
  promise().then(
    (answer) => void (globalThis.answer = answer),
    (error) => void (globalThis.wrong = `${error}\n${error?.stack ?? ""}`),
  );
}

// Who looks at it may have another font, which must find room: DejaVu Sans is a sixth wider.
globalThis.toSVG = (text) => answering(async () => viewOf(text, 7 / 6).toSVG());

// The size of the page, the opacities that are used, and the operators that draw it.
globalThis.toPDF = (text) =>
  answering(async () => {
    const view = viewOf(text, 1);
    const svg = await view.toSVG();
    const [, width, height] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(svg).map(Number);
    const canvas = new PdfCanvas(height);
    await view.toCanvas(1, { externalContext: canvas });
    return JSON.stringify({ width, height, opacities: [...canvas.opacities], operators: canvas.operators.join("\n") });
  });
