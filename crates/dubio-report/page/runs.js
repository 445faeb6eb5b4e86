// A run's full record, when it is opened.
{
  const records = new Map(Object.entries(JSON.parse(document.getElementById("runs").textContent)));
  const block = (title, value) => {
    const heading = document.createElement("h4");
    heading.textContent = title;
    const text = document.createElement("pre");
    text.textContent = JSON.stringify(value, null, 2);
    text.tabIndex = 0;
    return [heading, text];
  };
  for (const details of document.querySelectorAll("details.run")) {
    details.addEventListener("toggle", () => {
      const target = details.querySelector("div");
      if (!details.open || target.firstChild) return;
      const { record, scores } = records.get(details.dataset.run);
      if (record) target.append(...block("Record", record));
      target.append(...block("Scores of the test set", scores));
    });
  }
}
