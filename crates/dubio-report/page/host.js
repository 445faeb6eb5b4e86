// What Vega expects of its host, where there is no browser.
"use strict";
globalThis.structuredClone ??= (value) => JSON.parse(JSON.stringify(value));
globalThis.console = { log() {}, info() {}, debug() {}, warn() {}, error() {} };
globalThis.setTimeout = (task) => void Promise.resolve().then(task);
globalThis.clearTimeout = () => {};
globalThis.answer = globalThis.wrong = null;

// Draws `{spec, config}` as SVG.
globalThis.toSVG = (text) => {
  globalThis.answer = globalThis.wrong = null;
  const failed = (error) => void (globalThis.wrong = `${error}\n${error.stack ?? ""}`);
  try {
    const { spec, config } = JSON.parse(text);
    const view = new vega.View(vega.parse(vegaLite.compile(spec, { config }).spec), { renderer: "none" });
    view.toSVG().then((svg) => void (globalThis.answer = svg), failed);
  } catch (error) {
    failed(error);
  }
};
