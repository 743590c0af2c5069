// From a number in a table, figure or map to the entities behind it, by pointer and by keys.

// From a number to what is behind it: `place` says where on the axes, which two languages share it, which item it is, or
// where it is from.
function show(place, from) {
  if (from) remember(from, false); // where Back leads
  const { other, item, origin, ...codes } = place;
  let search = other ? `shared:${codes.language}+${other}` : origin ? `from:${origin}` : item || "";
  if (other) delete codes.language;
  if (codes.condition === "neutral" && codes.country && !item) { // these name no country: what belongs to it is meant
    search = `country:${named("country", codes.country)}`;
    delete codes.country;
  }
  state.chosen = {};
  for (const axis of AXES) {
    const at = data.axes[axis].findIndex((pair) => pair[0] === codes[axis]);
    if (at >= 0) state.chosen[axis] = at;
    else if (codes[axis] === "implicit") state.chosen[axis] = SOMEBODY;
  }
  const fine = AXES.some((axis) => state.chosen[axis] !== undefined && !whole.split.includes(axis));
  if (fine && state.chosen.topic === undefined) state.chosen.topic = 0;
  showChosen();
  state.search = document.getElementById("search").value = search;
  state.status = null; // what counts comes first
  reveal("evidence");
  chosen();
  const tally = document.getElementById("tally");
  document.getElementById("evidence").scrollIntoView();
  tally.focus({ preventScroll: true });
}

// Marks of figures and cells of maps carry what sets them apart from what is around them.
const MARK = "figure svg a, .heat:not(.still) td:not(.off), .dots td";
function follow(event) {
  const link = event.target.closest("a[data-model]:not(svg a)");
  if (link && whole) { event.preventDefault(); show({ ...link.dataset }, sectionOf(link)); return; }
  const drawing = event.detail ? event.target.closest(DRAWING) : null; // a pointer's click, not the Enter key's
  const mark = drawing ? nearest(drawing, event) : event.target.closest(MARK);
  if (!mark) return;
  event.preventDefault();
  const part = mark.getAttribute("href");
  if (part && part !== "#evidence") { location.hash = part; return; } // another part of the page than the entities
  if (!whole) return; // there are no entities on this page
  const around = [mark.closest("svg, table"), mark.closest("tr"), headOf(mark), mark];
  show(Object.assign({}, ...around.map((part) => part && part.dataset)), sectionOf(mark));
}
const sectionOf = (part) => (part.closest("main > section") || { id: "" }).id;

// Marks are smaller than a finger and lie close together: a pointer means the nearest within its reach, or the band on
// which it is.
const DRAWING = "figure svg[role=group]";
const REACH = 12; // pixels
function nearest(drawing, { clientX, clientY, target }) {
  const on = target.closest("a");
  if (on && on.getBoundingClientRect().width > 4 * REACH) return on;
  const away = (mark) => {
    const box = mark.getBoundingClientRect();
    return Math.hypot(box.x + box.width / 2 - clientX, box.y + box.height / 2 - clientY);
  };
  const reached = [...drawing.querySelectorAll("a")].map((mark) => [away(mark), mark]).filter(([far]) => far <= REACH);
  return reached.length ? reached.reduce((best, other) => other[0] <= best[0] ? other : best)[1] : null; // of equals the one on top
}

function showNearest(event) {
  for (const mark of document.querySelectorAll("svg a.near")) mark.classList.remove("near");
  const drawing = event.target.closest(DRAWING);
  const mark = drawing && nearest(drawing, event);
  if (!mark) return;
  mark.classList.add("near");
}

// What a mark or a cell is, in words, beside it: under the pointer, and where the keyboard is.
const TOLD = "figure svg a, .heat td[data-says]";
function tellUnderPointer(event) {
  const drawing = event.target.closest(DRAWING);
  tell(drawing ? nearest(drawing, event) : event.target.closest(TOLD));
}
function tellAtFocus(event) {
  if (event.target.matches(":focus-visible")) tell(event.target.closest(TOLD));
}
// To come into view, a mark that the keyboard reaches may scroll the page: what it says moves with it.
function tellAfterScroll() {
  const at = document.activeElement;
  tell(at && at.matches(":focus-visible") ? at.closest(TOLD) : null);
}

let tip = null;
function tell(mark) {
  if (!mark) { if (tip) tip.remove(); tip = null; return; }
  const text = mark.matches("td") ? toldOf(mark) : mark.getAttribute("aria-label");
  if (mark.matches("td")) mark.setAttribute("aria-label", text);
  if (!tip) { tip = element("div", { className: "tip", ariaHidden: "true" }); document.body.append(tip); }
  tip.textContent = text;
  const box = mark.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const below = box.bottom + 8 + height <= innerHeight;
  tip.style.left = `${Math.max(8, Math.min(box.left, document.documentElement.clientWidth - width - 8))}px`;
  tip.style.top = `${below ? box.bottom + 8 : Math.max(8, box.top - 8 - height)}px`;
}

// "Japan, ja: .42; 0.31 to 0.52; n = 120", or why there is no interval.
function toldOf(cell) {
  const table = cell.closest("table");
  const says = cell.dataset.says;
  const lacking = says.includes(" to ") ? "" : table.dataset.lacking;
  const value = (cell.querySelector("b") || cell.childNodes[0]).textContent;
  const [row, column] = [cell.parentElement.cells[0], headOf(cell)].map((head) => head.textContent);
  return `${row}, ${column}: ${[value, lacking, says].filter(Boolean).join("; ")}`;
}

const headOf = (mark) => mark.matches("td") ? mark.closest("table").tHead.rows[0].cells[mark.cellIndex] : null;

// A figure is one stop of the Tab key; arrow keys move among its marks, Enter leads to what is behind one.
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
function move(event) {
  const mark = event.target.closest(MARK);
  if (!mark || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "Enter" && mark.matches("td")) { follow(event); return; }
  if (!STEPS[event.key]) return;
  event.preventDefault();
  const next = mark.matches("td") ? cellBeside(mark, ...STEPS[event.key]) : markBeside(mark, ...STEPS[event.key]);
  if (!next) return;
  mark.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}

function cellBeside(cell, right, down) {
  const rows = cell.closest("tbody").rows;
  for (let row = cell.parentElement.sectionRowIndex, column = cell.cellIndex; ;) {
    row += down;
    column += right;
    const beside = rows[row] && rows[row].cells[column];
    if (!beside || beside.matches("td:not(.off)") && !beside.closest(".outside")) return beside;
  }
}

function markBeside(mark, right, down) {
  const marks = [...mark.closest("svg").querySelectorAll("a:not(.outside)")];
  return marks[marks.indexOf(mark) + right + down];
}
