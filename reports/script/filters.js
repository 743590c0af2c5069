// Which of the entities the reader asks for: filters, search and order.

// Shows what the filters ask for, from the part that holds it where there is one.
function choose() {
  const file = wanted();
  const next = loaded.get(file) || whole;
  if (next !== data) enter(next);
  if (file && next === whole) load(file);
  if (Object.keys(whole.parts).length) say(next === whole ? hint() : "");
  for (const axis of AXES) {
    const select = document.getElementById(`filter-${axis}`);
    if (!select) continue;
    select.disabled = !data.split.includes(axis);
    if (select.disabled && !file) { select.value = ""; delete state.chosen[axis]; }
  }
  drawStatuses();
  redraw();
}

// Which cells the filters let through. Filters are offered only for axes along which the counts are split.
function fittingCells() {
  const both = pair();
  const speaks = (language) => !both || both.includes(code("language", language).toLowerCase());
  return data.cells.map((place) =>
    speaks(place[1]) && AXES.every((axis, at) => passes(axis, place[at], state.chosen[axis])));
}
const needle = () => state.search.normalize("NFC").toLowerCase();
const pair = () => (needle().startsWith("shared:") ? needle().slice("shared:".length).split("+") : null);

function passes(axis, place, chosen) {
  return chosen === undefined || place === chosen || (chosen === SOMEBODY && axis === "condition" && namesSomebody(place));
}
const namesSomebody = (condition) => code("condition", condition).startsWith("implicit");

const countMentions = (fits) =>
  data.items.map((item) => item.counts.reduce((sum, [cell, mentions]) => sum + (fits[cell] ? mentions : 0), 0));

const ORDER = {
  label: (item) => item.label.toLowerCase(),
  kind, countries,
  mentions: (item, counts, index) => counts[index],
};

// "country:japan" is met by what belongs to the country, "from:japan" by what is from there and nowhere else ("from:several", ...),
// "shared:ja+th" by what was named in both languages, any other words where they stand.
function searched(words, fits) {
  const [word, value] = words.split(/^(country|from|shared):/).slice(1);
  if (word === "country") return (item) => (item.countries || []).some((pair) => pair[0].toLowerCase() === value.trim());
  if (word === "from") return (item) => (item.from || "").toLowerCase() === value.trim();
  if (word === "shared") return (item) => isShared(item, fits);
  return (item, index) => haystack[index].includes(words);
}

// Was it named in both languages, by the same model for the same prompt otherwise, as far as the counts are split?
function isShared(item, fits) {
  const seen = new Map();
  return item.counts.some(([cell]) => {
    const [model, language, ...prompt] = data.cells[cell];
    const key = [model, ...prompt].join();
    if (!fits[cell]) return false;
    if (!seen.has(key)) seen.set(key, language);
    return seen.get(key) !== language;
  });
}

function selected(counts, fits) {
  const meets = searched(needle(), fits);
  const found = [];
  data.items.forEach((item, index) => {
    if (item.status === state.status && counts[index] > 0 && meets(item, index)) found.push(index);
  });
  const key = ORDER[state.sort];
  const keys = new Map(found.map((index) => [index, key(data.items[index], counts, index)]));
  const compare = (a, b) => {
    const [x, y] = [keys.get(a), keys.get(b)];
    const difference = typeof x === "number" ? x - y : x.localeCompare(y, "en");
    return (state.descending ? -difference : difference) || a - b;
  };
  return found.sort(compare);
}

// The reader has chosen something else: what was open is closed, and the address says so.
function chosen(anew = true) {
  state.open = state.sentence = null;
  choose();
  remember("evidence", anew);
}

function showChosen() {
  for (const axis of AXES) {
    const select = document.getElementById(`filter-${axis}`);
    if (select) select.value = state.chosen[axis] === undefined ? "" : String(state.chosen[axis]);
  }
}

function addSelects() {
  const box = document.getElementById("selects");
  const finest = Object.keys(whole.parts).length ? AXES : whole.split;
  for (const axis of finest) {
    if (data.axes[axis].length < 2) continue;
    const select = element("select", { id: `filter-${axis}` }, element("option", { value: "" }, "all"),
      ...data.axes[axis].map((pair, index) => element("option", { value: String(index) }, pair[1])));
    if (axis === "country") select.append(element("option", { value: "-1" }, "no country"));
    if (axis === "condition" && data.axes[axis].filter((pair, index) => namesSomebody(index)).length > 1) {
      select.append(element("option", { value: String(SOMEBODY) }, "a person's name"));
    }
    select.addEventListener("change", () => {
      if (select.value === "") delete state.chosen[axis]; else state.chosen[axis] = Number(select.value);
      chosen();
    });
    box.append(element("div", { className: "field" }, element("label", { htmlFor: select.id }, TITLES[axis]), select));
  }
}

const statuses = () => data.statuses.filter(([status]) => data.of_status[status]);

function drawStatuses() {
  const box = document.getElementById("statuses");
  const there = statuses();
  if (!data.of_status[state.status]) state.status = there.length ? there[0][0] : null;
  const labels = there.map(([status, title]) => {
    const all = data.of_status[status];
    const input = element("input", { type: "radio", name: "status", value: status, checked: state.status === status });
    input.addEventListener("change", () => { state.status = status; chosen(); document.querySelector("#statuses :checked").focus(); });
    return element("label", {}, input, `${title} (${number(all)})`);
  });
  box.replaceChildren(...labels);
}
