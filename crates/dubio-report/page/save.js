// A figure as a file: SVG with the colours of the page, or PNG at twice its size.
function coloured(svg) {
  const style = getComputedStyle(document.documentElement);
  return svg.replace(/var\(--([a-z0-9-]+)\)/g, (whole, name) => style.getPropertyValue(`--${name}`).trim() || whole);
}

function download(name, address) {
  const link = document.createElement("a");
  link.download = name;
  link.href = address;
  link.click();
}

async function drawing(plot) {
  if (!views.has(plot)) await draw(plot);
  const page = getComputedStyle(document.body).backgroundColor;
  const svg = coloured(await views.get(plot).view.toSVG());
  // An image that is saved has the page's colour behind it, or dark letters would stand on dark.
  return svg.replace(/(<svg[^>]*>)/, `$1<rect width="100%" height="100%" fill="${page}"/>`);
}

async function save(plot, format) {
  const name = `${plot.dataset.figure.replace(/^c\d+-/, "")}.${format}`;
  const address = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(await drawing(plot))}`;
  if (format === "svg") return download(name, address);
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * image.width, 2 * image.height];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  download(name, canvas.toDataURL("image/png"));
}

for (const button of document.querySelectorAll("button[data-save]")) {
  button.addEventListener("click", () => save(button.closest(".plot"), button.dataset.save));
}
