// Heads of tables sort the lines below them, within each group of lines: numbers by value, what is missing last.

const SORTED = ".scroll > table:not(.heat, .entities)";

function addHeads() {
  for (const table of document.querySelectorAll(SORTED)) {
    const rows = table.tHead ? table.tHead.rows : [];
    if (rows.length !== 1 || table.tBodies[0].rows.length + table.tBodies.length < 3) continue;
    for (const body of table.tBodies) [...body.rows].forEach((row, at) => { row.dataset.at = at; });
    for (const head of rows[0].cells) {
      if (!head.textContent.trim()) continue;
      const button = element("button", { type: "button", className: "sort" }, ...head.childNodes);
      button.addEventListener("click", () => sortBy(table, head));
      head.append(button);
    }
  }
}

// The first press sorts from high to low, the second from low to high, the third as it was.
const NEXT = { none: "descending", descending: "ascending", ascending: "none" };
function sortBy(table, head) {
  const order = NEXT[head.getAttribute("aria-sort") || "none"];
  for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
  if (order !== "none") head.setAttribute("aria-sort", order);
  const width = head.parentElement.cells.length;
  for (const body of table.tBodies) {
    const fixed = (row) => row.matches(".group, .whole") || row.cells.length !== width;
    const lines = [...body.rows].filter((row) => !fixed(row));
    const keys = new Map(lines.map((row) => [row, order === "none" ? Number(row.dataset.at) : cellValue(row.cells[head.cellIndex])]));
    lines.sort((a, b) => compareKeys(keys.get(a), keys.get(b), order === "descending" ? -1 : 1) || a.dataset.at - b.dataset.at);
    body.append(...lines);
  }
}

// A cell's value: a number where it begins with one ("−1.2", "1,234", "< 0.001", "12 %"), its words, or null for none.
function cellValue(cell) {
  const text = (cell.querySelector(".value") || cell.childNodes[0] || cell).textContent.trim() || cell.textContent.trim();
  if (!text || text.startsWith("–") || cell.querySelector(".missing:only-child")) return null;
  const found = /^[<>]?\s*([+−-]?[\d,]*\.?\d+)/u.exec(text);
  return found ? Number(found[1].replace("−", "-").replaceAll(",", "")) : text.toLowerCase();
}

function compareKeys(a, b, sign) {
  if (a === null || b === null) return (a === null) - (b === null);
  return sign * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en"));
}
