// Light or dark: as the system says, until the reader says otherwise. The colours are the style sheet's.
{
  const button = document.getElementById("theme");
  const prefers = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const isDark = () => (chosen ? chosen === "dark" : prefers.matches);
  // The button says what it will do.
  const show = () => {
    if (chosen) document.documentElement.dataset.theme = chosen;
    button.textContent = isDark() ? "Light mode" : "Dark mode";
  };
  button.addEventListener("click", () => {
    chosen = isDark() ? "light" : "dark";
    show();
  });
  prefers.addEventListener("change", show);
  show();
}

// What sticks to the top is as high as its methods need lines; nothing may hide behind it.
{
  const bar = document.querySelector(".bar");
  const measure = () => document.documentElement.style.setProperty("--bar", `${bar.offsetHeight}px`);
  new ResizeObserver(measure).observe(bar);
  measure();
}
