// One method alone, everywhere: figures, tables and runs.
function isolate(method) {
  choose("isolated", method);
  for (const button of document.querySelectorAll("button.method")) {
    button.setAttribute("aria-pressed", String(button.dataset.method === method));
  }
  document.body.classList.toggle("isolating", method !== "");
  for (const row of document.querySelectorAll("[data-of]")) {
    row.classList.toggle("aside", method !== "" && row.dataset.of !== method);
  }
}

for (const button of document.querySelectorAll("button.method")) {
  button.addEventListener("click", () => {
    isolate(button.getAttribute("aria-pressed") === "true" ? "" : button.dataset.method);
  });
}
addEventListener("keydown", (event) => {
  if (event.key === "Escape") isolate("");
});
