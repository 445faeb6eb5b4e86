// What readers do with a report, and what must come of it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const plot = (page, id) => page.locator(`.plot[data-figure="c0-${id}"]`);

async function drawn(page, id) {
  await plot(page, id).scrollIntoViewIfNeeded();
  await plot(page, id).locator(".drawing svg").waitFor();
  return plot(page, id);
}

export async function tablesSort(page) {
  const table = page.locator("table.sortable").first();
  const head = table.locator("thead th", { hasText: "accuracy" }).first();
  const column = await head.evaluate((th) => [...th.parentNode.children].indexOf(th));
  const values = () =>
    table.locator("tbody tr").evaluateAll((rows, c) => rows.map((row) => Number(row.children[c].dataset.value)), column);
  await head.locator("button").click();
  const up = await values();
  assert.deepEqual(up, [...up].sort((a, b) => a - b));
  assert.ok(new Set(up).size > 1, "the values differ");
  assert.equal(await head.getAttribute("aria-sort"), "ascending");
  await head.locator("button").click();
  assert.deepEqual(await values(), [...up].sort((a, b) => b - a));
  assert.equal(await head.getAttribute("aria-sort"), "descending");
}

// How faint each method's marker is in the figure of all scores.
async function markers(page) {
  const figure = await drawn(page, "scores");
  return figure.locator(".mark-symbol path").evaluateAll((paths) =>
    paths.map((path) => [path.__data__.datum.method, Number(path.getAttribute("opacity") ?? 1)]),
  );
}

async function isolated(page, method) {
  const seen = await markers(page);
  assert.ok(seen.length > 2);
  for (const [name, opacity] of seen) {
    assert.equal(opacity > 0.5, method === "" || name === method, `${name} has opacity ${opacity}`);
  }
  const rows = await page.locator(".ranking tbody tr").evaluateAll((all) => all.map((row) => [row.dataset.of, row.classList.contains("aside")]));
  for (const [name, aside] of rows) assert.equal(aside, method !== "" && name !== method, name);
}

export async function isolates(page) {
  await isolated(page, "");
  const button = page.locator("button.method").nth(1);
  const method = await button.getAttribute("data-method");
  await button.click();
  assert.equal(await button.getAttribute("aria-pressed"), "true");
  await isolated(page, method);
  await page.keyboard.press("Escape");
  await isolated(page, "");
}

export async function marksIsolate(page) {
  const figure = await drawn(page, "scores");
  const marker = figure.locator(".mark-symbol path").nth(2);
  const method = await marker.evaluate((path) => path.__data__.datum.method);
  await marker.click({ force: true });
  await isolated(page, method);
}

export async function scoresAreChosen(page) {
  await drawn(page, "scores");
  await drawn(page, "shift");
  await plot(page, "scores").locator("select").selectOption("accuracy");
  assert.equal(await plot(page, "shift").locator('select[data-parameter="score"]').inputValue(), "accuracy");
  for (const id of ["scores", "shift"]) {
    await plot(page, id).locator("svg .mark-text text", { hasText: /^accuracy/ }).waitFor();
  }
  const shift = plot(page, "shift").locator('select[data-parameter="shift"]');
  const last = await shift.locator("option").last().textContent();
  await shift.selectOption(last);
  await plot(page, "shift").locator("svg .mark-text text", { hasText: `accuracy, ${last}` }).waitFor();
}

export async function pointingShows(page) {
  const figure = await drawn(page, "scores");
  const tip = page.locator("#tip");
  // A figure that is drawn once more under the pointer says nothing until the pointer comes again.
  for (let times = 0; times < 20 && !(await tip.isVisible()); times++) {
    await page.mouse.move(0, 0);
    await figure.locator(".mark-symbol path").first().hover({ force: true });
    await page.waitForTimeout(200);
  }
  await tip.waitFor({ state: "visible" });
  assert.match(await tip.textContent(), /method .*value/s);
}

export async function figuresAreTables(page) {
  const figure = await drawn(page, "reliability");
  await figure.locator("details.data summary").click();
  await figure.locator("details.data tbody tr").nth(5).waitFor(); // the table is filled when it is opened
  const heads = await figure.locator("details.data th").allTextContents();
  assert.deepEqual(heads.slice(0, 2), ["method", "confidence above"]);
}

export async function runsShowRecords(page) {
  const run = page.locator("details.run").first();
  await run.locator("summary").click();
  const [record, scores] = await run.locator("pre").allTextContents();
  assert.ok(JSON.parse(record).settings.recipe, "the settings are there");
  assert.ok("misclassification.auroc.total" in JSON.parse(scores), "and every score");
}

export async function figuresSave(page) {
  const figure = await drawn(page, "reliability");
  for (const [format, start] of [["svg", "<svg"], ["png", "\u0089PNG"]]) {
    const [download] = await Promise.all([page.waitForEvent("download"), figure.locator(`button[data-save="${format}"]`).click()]);
    assert.equal(download.suggestedFilename(), `reliability.${format}`);
    const bytes = readFileSync(await download.path());
    assert.ok(bytes.toString("latin1").startsWith(start), format);
    assert.ok(bytes.length > 3_000, `${format} has ${bytes.length} bytes`);
    assert.ok(!bytes.toString("latin1").includes("var(--"), "colours have values");
  }
}

export async function legendsNameEveryMethod(page) {
  const figure = await drawn(page, "rejection");
  const methods = await page.locator("button.method").evaluateAll((all) => all.map((button) => button.dataset.method));
  const texts = await figure.locator("svg .mark-text.role-legend-label text").allTextContents();
  assert.deepEqual(texts.map((text) => text.trim()), methods.map((name) => name.trim()));
}

export async function contentsAreSeen(page) {
  await page.evaluate(() => scrollTo(0, 2000));
  const [bar, first] = await page.evaluate(() => [
    document.querySelector(".bar").getBoundingClientRect().bottom,
    document.querySelector("nav a").getBoundingClientRect().top,
  ]);
  assert.ok(first >= bar - 1, `the first entry is at ${first}, the bar ends at ${bar}`);
}

export async function themesChange(page) {
  const button = page.locator("#theme");
  assert.equal(await button.textContent(), "Dark mode", "the button says what it will do");
  const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await colour();
  await page.locator("#theme").click();
  const dark = await colour();
  assert.equal(await button.textContent(), "Light mode");
  assert.notEqual(dark, before);
  const figure = await drawn(page, "scores");
  const text = await figure.locator("svg text").first().evaluate((node) => getComputedStyle(node).fill);
  assert.ok(text.match(/\d+/g).every((part) => Number(part) > 150), `dark figures have light letters: ${text}`);
  await page.locator("#theme").click();
  assert.equal(await colour(), before);
}

// Every link, button, choice and scrollable table gets the focus in turn, and shows it.
export async function keyboardReaches(page) {
  const wanted = await page.evaluate(() => {
    const all = document.querySelectorAll("a[href], button, select, summary, [tabindex='0']");
    const seen = [...all].filter((node) => node.checkVisibility({ contentVisibilityAuto: true }));
    seen.forEach((node, index) => (node.dataset.reach = index));
    return seen.length;
  });
  const reached = new Set();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip", "the way past the bar comes first");
  for (let i = 0; i < 2 * wanted && reached.size < wanted; i++) {
    const [index, outline] = await page.evaluate(() => [
      document.activeElement.dataset.reach,
      getComputedStyle(document.activeElement).outlineStyle,
    ]);
    if (index !== undefined) {
      assert.notEqual(outline, "none", "what has the focus shows it");
      reached.add(index);
    }
    await page.keyboard.press("Tab");
  }
  assert.equal(reached.size, wanted, "everything is reached");
  await page.locator(".skip").focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
}

export async function prints(page) {
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await page.locator(".plot").last().locator(".drawing svg").waitFor();
  await page.emulateMedia({ media: "print" });
  for (const hidden of [".bar", "nav", ".choices"]) {
    assert.equal(await page.locator(hidden).first().isVisible(), false, hidden);
  }
  assert.equal(await page.locator(".ranking").first().isVisible(), true);
  assert.ok((await page.pdf()).length > 50_000);
}

export async function failureIsSaid(page) {
  const warning = page.locator(".warnings summary").first();
  assert.match(await warning.textContent(), /did not finish/);
  await warning.click();
  assert.match(await page.locator(".warnings li").first().textContent(), /Error: .{10,}/);
  const box = await page.locator(".warnings").boundingBox();
  assert.ok(box.y < 900, "on the first screen");
}
