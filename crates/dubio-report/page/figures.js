// Draws each figure when it comes near the screen, in the room that it has.
const figures = new Map(Object.entries(JSON.parse(document.getElementById("figures").textContent)));
const drawingTheme = JSON.parse(document.getElementById("drawing-theme").textContent);
const chosen = new Map([["isolated", ""]]);
const views = new Map();

// Legends of methods stand beside their lines where there is room, and below them where there is little.
function configFor(room) {
  const narrow = room < 480 ? { columns: 2, titleOrient: "top" } : { titleOrient: "left" };
  return {
    ...drawingTheme,
    font: "system-ui, sans-serif",
    legend: { ...drawingTheme.legend, orient: "top", ...narrow },
  };
}

function methodLegend(room) {
  const below = { orient: "bottom", columns: Math.max(1, Math.floor(room / 150)), titleOrient: "top" };
  const beside = { orient: "right", columns: 1, titleOrient: "top" };
  return { title: null, symbolSize: 150, labelLimit: 140, ...(room < 640 ? below : beside) };
}

// The specification for so much room: a wide plot fills it, panels are put in as many columns as fit.
function fitted(figure, room) {
  const spec = structuredClone(figure.spec);
  if (typeof figure.layout === "number") {
    const labels = figure.layout > 200 ? 110 : 50;
    const most = Math.max(1, Math.floor((room - labels) / figure.layout));
    const count = spec.facet.sort.length;
    spec.columns = Math.ceil(count / Math.ceil(count / most));
    const width = Math.floor((room - labels) / spec.columns) - 22;
    // Two or three panels take more room than many would.
    const grown = Math.min(count < 4 ? 2.4 : 1.5, Math.max(0.5, width / spec.spec.width));
    if (typeof spec.spec.height === "number") spec.spec.height = Math.round(spec.spec.height * grown);
    spec.spec.width = Math.round(spec.spec.width * grown);
  } else if (figure.layout === "fixed") {
    const step = Math.max(7, Math.min(26, Math.floor((room - 150) / spec.encoding.x.sort.length)));
    spec.width = spec.height = { step };
  } else {
    spec.width = room;
    spec.autosize = { type: "fit-x", contains: "padding" };
    if (typeof spec.height === "number") spec.height = Math.round(Math.min(340, Math.max(220, room * 0.6)));
  }
  return spec;
}

// Lines have a legend of the methods beside them. Where methods are rows or panels, their names are there already.
function withMethodLegend(spec, room) {
  const isLine = (layer) => layer.mark?.type === "line" && layer.encoding?.color?.field === "method";
  const lines = (spec.layer ?? []).some(isLine);
  const visit = (node) => {
    if (Array.isArray(node)) return node.forEach(visit);
    if (!node || typeof node !== "object") return;
    for (const channel of ["color", "fill", "shape", "strokeDash"]) {
      const encoding = node.encoding?.[channel];
      if (encoding?.field !== "method") continue;
      const alone = encoding.scale.domain.length < 2;
      encoding.legend = lines && !alone && channel !== "fill" ? methodLegend(room) : null;
    }
    ["layer", "spec"].forEach((key) => visit(node[key]));
  };
  visit(spec);
  return spec;
}

function draw(plot) {
  const figure = figures.get(plot.dataset.figure);
  const target = plot.querySelector(".drawing");
  const room = Math.floor(target.clientWidth);
  if (room === 0) return;
  const spec = withMethodLegend(fitted(figure, room), room);
  for (const parameter of spec.params) {
    const options = optionsOf(plot, parameter.name);
    if (parameter.name === "isolated" || options.includes(chosen.get(parameter.name))) {
      parameter.value = chosen.get(parameter.name) ?? parameter.value;
    }
  }
  plot.classList.add("drawn");
  views.get(plot)?.view.finalize();
  // The drawing as a whole is an image with a description, and its data are a table. What Vega says of its parts is not
  // for screen readers: it leaves empty ones without a name.
  const inside = document.createElement("div");
  inside.setAttribute("aria-hidden", "true");
  target.replaceChildren(inside);
  const compiled = vegaLite.compile(spec, { config: configFor(room), logger: vega.logger(vega.Error) }).spec;
  const view = new vega.View(vega.parse(compiled), { renderer: "svg", container: inside, hover: false, logLevel: vega.Error });
  view.tooltip((handler, event, item, value) => showTip(event, value));
  view.addEventListener("click", (event, item) => {
    const method = item?.datum?.method ?? item?.items?.[0]?.datum?.method;
    if (method) isolate(chosen.get("isolated") === method ? "" : method);
  });
  views.set(plot, { view, room });
  return view.runAsync();
}

function optionsOf(plot, parameter) {
  const select = plot.querySelector(`select[data-parameter="${parameter}"]`);
  return select ? [...select.options].map((option) => option.value) : [];
}

// Sets a parameter in every figure that has it and knows the value.
function choose(parameter, value) {
  chosen.set(parameter, value);
  for (const plot of document.querySelectorAll(".plot")) {
    const select = plot.querySelector(`select[data-parameter="${parameter}"]`);
    const known = parameter === "isolated" || optionsOf(plot, parameter).includes(value);
    if (!known) continue;
    if (select) select.value = value;
    views.get(plot)?.view.signal(parameter, value).runAsync();
  }
}

const tip = document.getElementById("tip");
function showTip(event, value) {
  tip.hidden = !value;
  if (!value) return;
  const rows = Object.entries(value).filter(([, text]) => text !== "" && text !== "null" && text !== "NaN");
  tip.replaceChildren(
    ...rows.map(([name, text]) => {
      const row = document.createElement("div");
      const term = document.createElement("span");
      term.textContent = name;
      row.append(term, ` ${text}`);
      return row;
    }),
  );
  const [x, y] = [event.clientX + 14, event.clientY + 14];
  tip.style.left = `${Math.max(4, Math.min(x, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${y + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : y}px`;
}
addEventListener("scroll", () => void (tip.hidden = true), { passive: true });

{
  const near = new IntersectionObserver(
    (entries) => {
      for (const entry of entries.filter((entry) => entry.isIntersecting)) {
        // A figure without room stays watched: it is drawn once it has some.
        if (draw(entry.target)) near.unobserve(entry.target);
      }
    },
    { rootMargin: "600px" },
  );
  const plots = [...document.querySelectorAll(".plot")];
  plots.forEach((plot) => near.observe(plot));
  for (const select of document.querySelectorAll("select[data-parameter]")) {
    select.addEventListener("change", () => choose(select.dataset.parameter, select.value));
  }
  let waiting;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      for (const [plot, drawn] of views) {
        if (Math.abs(plot.querySelector(".drawing").clientWidth - drawn.room) > 8) draw(plot);
      }
    }, 150);
  });
  addEventListener("beforeprint", () => plots.filter((plot) => !views.has(plot)).forEach(draw));
}
