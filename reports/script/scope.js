// The language and the topic of the whole page: lines, columns, panels and marks of others go away, until "all" is chosen.
// What is of all languages or topics together stays, and so does what has no part by either.

const SCOPES = ["language", "topic"];
const EVERYTHING = ""; // of the option "all"
const scopeKey = (axis) => `only-${axis}`; // in the address

const isOutside = (axis, codes) => Boolean(state.only[axis] && codes) && !codes.split(" ").includes(state.only[axis]);
const areOutside = (codesOf) => SCOPES.some((axis) => isOutside(axis, codesOf(axis)));

// Brings the whole page to what is chosen for it.
function drawScope() {
  const hide = (part, codesOf) => part.classList.toggle("outside", areOutside(codesOf));
  const own = (part) => (axis) => part.dataset[axis];
  for (const row of document.querySelectorAll("tr:is([data-about-language], [data-about-topic])")) {
    hide(row, (axis) => row.dataset[axis === "language" ? "aboutLanguage" : "aboutTopic"]);
  }
  for (const table of document.querySelectorAll("table:has([data-about-language], [data-about-topic])")) {
    for (const body of table.tBodies) {
      body.classList.toggle("outside", [...body.rows].every((row) => row.matches(".group, .outside")));
    }
    table.closest(".scroll").classList.toggle("empty", [...table.tBodies].every((body) => body.matches(".outside")));
  }
  for (const row of document.querySelectorAll("tbody tr:is([data-language], [data-topic])")) hide(row, own(row));
  for (const table of document.querySelectorAll(".panel table:is([data-language], [data-topic])")) {
    hide(table.closest(".panel"), own(table));
  }
  for (const head of document.querySelectorAll("main thead th:is([data-language], [data-topic])")) {
    for (const row of head.closest("table").rows) hide(row.cells[head.cellIndex], own(head));
  }
  for (const drawing of document.querySelectorAll("figure svg:has(a:is([data-language], [data-topic]))")) scopeDrawing(drawing);
  for (const select of document.querySelectorAll("[data-scope]")) select.value = state.only[select.dataset.scope] || EVERYTHING;
  document.getElementById("scope").classList.toggle("chosen", SCOPES.some((axis) => state.only[axis]));
  for (const figure of document.querySelectorAll("figure svg, .heat:not(.still), .dots")) keepTabStop(figure);
  fitTables();
}

// The Tab key stops at one mark of a figure, which has to be there.
function keepTabStop(figure) {
  const marks = [...figure.querySelectorAll(figure.matches("table") ? "td:not(.off)" : "a")];
  const there = marks.filter((mark) => !mark.closest(".outside"));
  if (!there.length || there.some((mark) => mark.tabIndex === 0)) return;
  for (const mark of marks) mark.setAttribute("tabindex", "-1");
  there[0].setAttribute("tabindex", "0");
}

// Marks of a drawing, and the intervals on their heights.
function scopeDrawing(drawing) {
  const away = new Set();
  const heights = (mark) => [...mark.querySelectorAll("use, path")].map((shape) => heightOf(shape).toFixed(1));
  const marks = [...drawing.querySelectorAll("a")];
  for (const mark of marks) {
    const outside = areOutside((axis) => mark.dataset[axis]);
    mark.classList.toggle("outside", outside);
    if (outside) heights(mark).forEach((height) => away.add(height));
  }
  drawing.parentElement.classList.toggle("empty", marks.every((mark) => mark.matches(".outside")));
  for (const mark of marks) if (!mark.matches(".outside")) heights(mark).forEach((height) => away.delete(height));
  for (const line of drawing.querySelectorAll("path")) {
    const [, from, to] = /^M \S+ (\S+) L \S+ (\S+) ?$/.exec(line.getAttribute("d")) || [];
    if (from !== undefined && from === to) line.classList.toggle("outside", away.has(heightOf(line).toFixed(1)));
  }
}

// The height of a shape's middle: a fold that is closed has no boxes, so that it is read from the drawing.
function heightOf(shape) {
  if (shape.matches("use")) return Number(shape.getAttribute("y"));
  const heights = shape.getAttribute("d").match(/[\d.-]+ [\d.-]+/g).map((pair) => Number(pair.split(" ")[1]));
  return (Math.min(...heights) + Math.max(...heights)) / 2;
}

// A reader chooses for the whole page: the evidence follows.
function chooseScope(axis, code) {
  state.only[axis] = code;
  drawScope();
  if (whole) {
    const at = whole.axes[axis].findIndex((pair) => pair[0] === code);
    if (at >= 0) state.chosen[axis] = at; else delete state.chosen[axis];
    state.open = state.sentence = null;
    showChosen();
    choose();
  }
  remember("scope");
}

// What an address says of the whole page; a code that the page has not is none.
function recallScope(values) {
  for (const axis of SCOPES) {
    const options = document.getElementById(`scope-${axis}`);
    const wanted = values.get(scopeKey(axis)) || EVERYTHING;
    state.only[axis] = options && [...options.options].some((option) => option.value === wanted) ? wanted : EVERYTHING;
  }
  drawScope();
}

function addScope() {
  const box = document.getElementById("scope");
  const fields = SCOPES.map((axis) => [axis, document.getElementById(`${axis}s`)]).filter(([, options]) => options);
  if (!box || !fields.length) return; // there is one language, and one topic
  for (const [axis, options] of fields) {
    const select = element("select", { id: `scope-${axis}`, "data-scope": axis },
      element("option", { value: EVERYTHING }, `all ${axis}s`), options.content.cloneNode(true));
    select.addEventListener("change", () => chooseScope(axis, select.value));
    box.append(element("div", { className: "field" }, element("label", { htmlFor: select.id }, `${TITLES[axis]} of the whole page`), select));
  }
  box.append(element("p", { className: "hint" }, "Means over all of them stay as they are, and so do sentences."));
  box.hidden = false;
}
