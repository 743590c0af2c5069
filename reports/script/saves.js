// Figures and tables as files. A figure is painted as it stands: its legend, its drawings and its maps, as an SVG whose
// colours and fonts are its own, or as a PNG of it, three times as large.

const PNG_SCALE = 3;
const SVG = "http://www.w3.org/2000/svg";
const PAINTED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "fill-opacity", "stroke-opacity", "font-size", "font-family", "font-weight", "text-anchor"];

function addSaves() {
  for (const figure of document.querySelectorAll("figure:has(svg, .heat)")) {
    const button = (says, save) => {
      const made = element("button", { type: "button" }, says);
      made.addEventListener("click", () => save(figure));
      return made;
    };
    const saves = element("span", { className: "saves" }, button("Save as SVG", saveSvg), " ", button("Save as PNG", savePng));
    const caption = figure.querySelector("figcaption");
    if (caption) caption.append(" ", saves); else figure.append(saves);
  }
}

function hand(blob, file) {
  const link = element("a", { href: URL.createObjectURL(blob), download: file });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
const fileOf = (figure) => [sectionOf(figure), ...[...figure.querySelectorAll("h2, h3, h4")].slice(0, 1).map((head) => head.textContent)]
  .join("-").toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 60);
const svgText = (figure) => new XMLSerializer().serializeToString(painted(figure));

function saveSvg(figure) {
  hand(new Blob([svgText(figure)], { type: "image/svg+xml" }), `${fileOf(figure)}.svg`);
}

async function savePng(figure) {
  const address = URL.createObjectURL(new Blob([svgText(figure)], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = element("canvas", { width: image.width * PNG_SCALE, height: image.height * PNG_SCALE });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(address);
  canvas.toBlob((blob) => hand(blob, `${fileOf(figure)}.png`), "image/png");
}

const shape = (tag, attributes) => {
  const made = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};

// The figure without its caption, buttons and tables' hidden words. What scrolls in its box is painted whole.
function painted(figure) {
  const parts = [...figure.querySelectorAll("h2, h3, h4, .keys, .scroll")].filter((part) => part.getClientRects().length && !part.closest("details:not([open])")); // not in a closed fold
  const whole = shape("svg", { xmlns: SVG });
  const at = figure.getBoundingClientRect();
  let [right, bottom] = [0, 0];
  const reach = (box) => { right = Math.max(right, box.right - at.left); bottom = Math.max(bottom, box.bottom - at.top); };
  for (const part of parts) {
    const walk = document.createTreeWalker(part, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = part; node; node = walk.nextNode()) {
      if (node.nodeType === Node.TEXT_NODE) paintWords(whole, node, at, reach);
      else if (node.tagName === "svg") { paintDrawing(whole, node, at); reach(node.getBoundingClientRect()); }
      else paintBox(whole, node, at, reach);
    }
  }
  const paper = getComputedStyle(document.body).backgroundColor;
  const size = { width: Math.ceil(right + 12), height: Math.ceil(bottom + 8) };
  for (const [key, value] of Object.entries({ ...size, viewBox: `-4 -4 ${size.width} ${size.height}` })) whole.setAttribute(key, value);
  whole.prepend(shape("rect", { x: -4, y: -4, ...size, fill: paper }));
  return whole;
}

function paintBox(whole, node, at, reach) {
  if (node.tagName === "CAPTION" || node.closest("svg, caption")) return;
  const style = getComputedStyle(node);
  const box = node.getBoundingClientRect();
  const framed = style.boxShadow.includes("inset") || node.matches(".outline");
  const filled = style.backgroundColor !== "rgba(0, 0, 0, 0)" && !node.matches("tbody th");
  if (!filled && !framed) return;
  reach(box);
  whole.append(shape("rect", {
    x: box.left - at.left + (framed ? 1 : 0), y: box.top - at.top + (framed ? 1 : 0),
    width: Math.max(0, box.width - (framed ? 2 : 0)), height: Math.max(0, box.height - (framed ? 2 : 0)),
    fill: filled ? style.backgroundColor : "none",
    ...(framed ? { stroke: getComputedStyle(document.body).color, "stroke-width": 2 } : {}),
  }));
}

// A word each, where the page shows it.
function paintWords(whole, node, at, reach) {
  const parent = node.parentElement;
  if (parent.closest("svg, caption, b")) return;
  const style = getComputedStyle(parent);
  for (const word of node.textContent.matchAll(/\S+/g)) {
    const range = document.createRange();
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    const box = range.getBoundingClientRect();
    if (!box.width) continue;
    reach(box);
    const text = shape("text", {
      x: box.left - at.left, y: (box.top + box.bottom) / 2 - at.top + 0.35 * parseFloat(style.fontSize), fill: style.color,
      "font-size": style.fontSize, "font-family": style.fontFamily, "font-weight": style.fontWeight,
    });
    text.textContent = word[0];
    whole.append(text);
  }
}

// A drawing with its styles written out, and without its links.
function paintDrawing(whole, drawing, at) {
  const copy = drawing.cloneNode(true);
  const [from, to] = [drawing, copy].map((one) => [one, ...one.querySelectorAll("*")]);
  from.forEach((original, place) => {
    const style = getComputedStyle(original);
    for (const key of PAINTED) to[place].setAttribute(key, style.getPropertyValue(key));
  });
  for (const link of copy.querySelectorAll("a")) link.replaceWith(...link.childNodes);
  for (const unseen of copy.querySelectorAll("style, title")) unseen.remove();
  const box = drawing.getBoundingClientRect();
  copy.setAttribute("x", box.left - at.left);
  copy.setAttribute("y", box.top - at.top);
  copy.setAttribute("overflow", "visible");
  whole.append(copy);
}

// Long tables lie gzipped in the page: with this script they are saved as they are, without it as .csv.gz.
async function unpackTable(event) {
  const link = event.target.closest("a[download$='.csv.gz']");
  if (!link || !("DecompressionStream" in window)) return;
  event.preventDefault();
  const bytes = Uint8Array.from(atob(link.getAttribute("href").split(",")[1]), (letter) => letter.charCodeAt(0));
  const text = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
  hand(new Blob([await text.text()], { type: "text/csv" }), link.download.replace(/\.gz$/, ""));
}
