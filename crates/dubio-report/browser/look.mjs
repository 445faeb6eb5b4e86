// Opens reports in Chromium and looks at them as readers do: with eyes, pointer, keyboard, screen reader.
//
//   node look.mjs CHROMIUM PICTURES study=quick.html file=one.html failed=failed.html [NAME=MORE.html ...]
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import * as act from "./act.mjs";

const [, , executablePath, pictures, ...named] = process.argv;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = [380, 800, 1360];

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });

// A page that fails the test when it complains or asks for anything but itself.
async function open(path, width, colorScheme = "light") {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const page = await context.newPage();
  // A machine that does much else at once still draws, only later.
  page.setDefaultTimeout(120_000);
  const complaints = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    // What the page makes itself, to be saved, is no request to anybody.
    if (request.url() !== url && !request.url().startsWith("data:")) complaints.push(`asked for ${request.url().slice(0, 200)}`);
  });
  const url = pathToFileURL(resolve(path)).href;
  await page.goto(url);
  const close = async () => {
    await context.close();
    assert.deepEqual(complaints, [], `${path} at ${width}`);
  };
  return { page, close };
}

// Scrolls to a figure until it is drawn. Once is not enough: figures above it are drawn at the same time and push it
// away. Playwright's own scrolling waits until nothing moves, which on a busy machine takes too long.
async function drawn(page, plot) {
  for (let attempt = 0; attempt < 60; attempt += 1) {
    await plot.evaluate((element) => element.scrollIntoView({ block: "center", behavior: "instant" }));
    const seen = await plot.locator(".drawing svg").waitFor({ timeout: 2_000 }).then(() => true, () => false);
    if (seen) return;
    // A page that the browser takes for hidden draws no frames, and so sees nothing come into view.
    await page.bringToFront();
    await page.evaluate(() => scrollTo(0, 0));
  }
  const state = await plot.evaluate((element) => {
    const { top, height } = element.getBoundingClientRect();
    const { className, dataset } = element;
    return { figure: dataset.figure, className, top, height, scrollY, visibility: document.visibilityState };
  });
  assert.fail(`a figure is not drawn after two minutes: ${JSON.stringify(state)}`);
}

// Every figure is drawn when it is scrolled to, and nothing is wider than the screen.
async function drawAll(page) {
  for (const plot of await page.locator(".plot").all()) await drawn(page, plot);
  const empty = await page.$$eval(".plot", (plots) =>
    plots.filter((plot) => plot.querySelectorAll("svg .mark-group path, svg .mark-symbol path, svg .mark-rect path, svg .mark-line path, svg .mark-rule line").length < 3)
      .map((plot) => plot.dataset.figure),
  );
  assert.deepEqual(empty, [], "figures without marks");
  const [inner, scroll] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
  assert.ok(scroll <= inner, `the page is ${scroll} wide on a screen of ${inner}`);
}

async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map((v) => `${v.id}: ${v.help}; ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120)).join(" | ")}`);
}

// Words of table headings that are spread over so many lines that one cannot read them: fewer than four letters on each.
function shredded() {
  const found = [];
  for (const heading of document.querySelectorAll("th")) {
    if (!heading.checkVisibility()) continue;
    const texts = document.createTreeWalker(heading, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      for (const { 0: word, index } of texts.currentNode.data.matchAll(/\S+/g)) {
        const range = document.createRange();
        range.setStart(texts.currentNode, index);
        range.setEnd(texts.currentNode, index + word.length);
        const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size;
        if (lines > Math.ceil(word.length / 4)) found.push(`${word} on ${lines} lines`);
      }
    }
  }
  return found;
}

// On paper of 186 mm between its margins no table is cut off, headings can be read, and no section is empty.
async function printed(name, path) {
  const { page, close } = await open(path, 703);
  await drawAll(page);
  await page.emulateMedia({ media: "print" });
  const cut = await page.$$eval(".wide", (all) =>
    all.filter((box) => box.checkVisibility() && box.firstElementChild && box.firstElementChild.offsetWidth > box.clientWidth + 1)
      .map((box) => box.textContent.slice(0, 60)),
  );
  assert.deepEqual(cut, [], `${name}: tables that are cut off on paper`);
  assert.deepEqual(await page.evaluate(shredded), [], `${name}: headings that are cut into letters on paper`);
  const empty = await page.$$eval(".question", (all) =>
    all.filter((section) => section.checkVisibility() && ![...section.querySelectorAll("svg, table")].some((inside) => inside.checkVisibility()))
      .map((section) => section.textContent.trim().slice(0, 60)),
  );
  assert.deepEqual(empty, [], `${name}: sections that are empty on paper`);
  await page.screenshot({ path: `${pictures}/${name}-print.png`, fullPage: true });
  await close();
}

for (const [name, path] of named.map((argument) => argument.split("="))) {
  for (const width of WIDTHS) {
    const { page, close } = await open(path, width);
    await drawAll(page);
    assert.deepEqual(await violations(page), [], `${name} at ${width}`);
    const links = await page.$$eval("nav a", (all) => all.filter((link) => link.checkVisibility()).length);
    assert.notEqual(links, 1, `${name} at ${width}: a table of contents of one entry`);
    await page.evaluate(() => scrollTo(0, 0));
    await page.screenshot({ path: `${pictures}/${name}-${width}.png` });
    await close();
  }
  const { page, close } = await open(path, 1360, "dark");
  await drawAll(page);
  assert.deepEqual(await violations(page), [], `${name} in the dark`);
  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({ path: `${pictures}/${name}-dark.png` });
  await close();
  await printed(name, path);
  console.log(`${name}: drawn at ${WIDTHS.join(", ")}, in the dark and on paper; nothing to complain of`);
}

const paths = Object.fromEntries(named.map((argument) => argument.split("=")));
for (const [what, path, check] of [
  ["tables sort", paths.study, act.tablesSort],
  ["a click isolates a method everywhere", paths.study, act.isolates],
  ["a click on a mark isolates its method", paths.study, act.marksIsolate],
  ["a score is chosen in all figures at once", paths.study, act.scoresAreChosen],
  ["pointing shows values", paths.study, act.pointingShows],
  ["figures are tables too", paths.study, act.figuresAreTables],
  ["a run shows its record", paths.study, act.runsShowRecords],
  ["the theme can be changed", paths.study, act.themesChange],
  ["figures are saved as SVG and PNG", paths.file, act.figuresSave],
  ["fifteen lines have a legend beside them", paths.study, act.legendsNameEveryMethod],
  ["the contents do not hide behind the bar", paths.study, act.contentsAreSeen],
  ["the keyboard reaches everything on the page of a file", paths.file, act.keyboardReaches],
  ["the keyboard reaches everything on the page of a study", paths.study, act.keyboardReaches],
  ["the keyboard reaches everything on the page of a study that failed in part", paths.failed, act.keyboardReaches],
  ["paper leaves out what cannot be pressed", paths.study, act.prints],
  ["what failed is said first", paths.failed, act.failureIsSaid],
]) {
  const { page, close } = await open(path, 1360);
  // A figure that is drawn late pushes what is below it from under the pointer: on a busy machine a click missed.
  await drawAll(page);
  await page.evaluate(() => scrollTo(0, 0));
  await check(page);
  await close();
  console.log(what);
}
await browser.close();
