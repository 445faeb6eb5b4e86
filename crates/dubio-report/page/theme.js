// Light or dark: as the system says, until the reader says otherwise. The colours are the style sheet's.
{
  const button = document.getElementById("theme");
  const prefers = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const show = () => {
    const dark = chosen ? chosen === "dark" : prefers.matches;
    if (chosen) document.documentElement.dataset.theme = chosen;
    button.setAttribute("aria-pressed", String(dark));
  };
  button.addEventListener("click", () => {
    const dark = button.getAttribute("aria-pressed") === "true";
    chosen = dark ? "light" : "dark";
    show();
  });
  prefers.addEventListener("change", show);
  show();
}
