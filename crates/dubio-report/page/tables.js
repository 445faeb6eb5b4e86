// Tables sort by a click on a heading; figures show their data as a table when asked.
function sortBy(button) {
  const head = button.closest("th");
  const table = head.closest("table");
  const column = [...head.parentNode.children].indexOf(head);
  const descending = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentNode.children) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const key = (row) => {
    const cell = row.children[column];
    const value = cell.dataset.value;
    if (value === undefined) return cell.textContent.trim();
    return value.endsWith("inf") ? Number(value.replace("inf", "Infinity")) : Number(value);
  };
  const missing = (k) => k === "" || (typeof k === "string" && k.startsWith("—"));
  const compare = (a, b) => {
    const [x, y] = [key(a), key(b)];
    if (missing(x) || missing(y)) return missing(x) - missing(y);
    const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
    return descending ? -order : order;
  };
  const body = table.tBodies[0];
  body.append(...[...body.rows].sort(compare));
}

for (const button of document.querySelectorAll("table.sortable thead button")) {
  button.addEventListener("click", () => sortBy(button));
}

function dataTable(figure) {
  const { values, format } = figure.spec.data;
  const rows = vega.read(values, format);
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  for (const [, name] of figure.columns) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = name;
    head.append(cell);
  }
  const body = table.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    for (const [field] of figure.columns) line.insertCell().textContent = row[field] ?? "—";
  }
  return table;
}

for (const details of document.querySelectorAll("details.data")) {
  details.addEventListener("toggle", () => {
    const target = details.querySelector(".wide");
    if (!details.open || target.firstChild) return;
    target.append(dataTable(figures.get(details.closest(".plot").dataset.figure)));
  });
}
