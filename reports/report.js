// The evidence browser: filters, sorts and opens the entities that are embedded in the page. Whatever comes from a model
// or from Wikidata is written as text (textContent), never as HTML.
"use strict";

(() => {
  let whole; // what the page itself holds
  let data; // what the table shows: all of the page, or a part that was loaded
  let responsesOf, haystack;
  const AXES = ["model", "language", "topic", "condition", "country"];
  const TITLES = {
    model: "Model", language: "Language", topic: "Topic", condition: "Prompt", country: "Country in the prompt",
  };
  const PAGE = 50; // rows shown at first
  const FIRST = 4; // responses shown at first
  const MORE = 20; // and with every press of the button
  const SOMEBODY = -2; // of the conditions: those that name a person
  const state = { search: "", status: null, sort: "mentions", descending: true, shown: PAGE, chosen: {}, open: null };

  function element(tag, options = {}, ...children) {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(options)) {
      if (key in made && key !== "lang" && key !== "dir") made[key] = value;
      else made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  }

  // Text whose direction is its own: it cannot turn the text around it.
  function isolated(text, language) {
    return element("bdi", language ? { lang: language, dir: "auto" } : { dir: "auto" }, text);
  }

  const name = (axis, index) => (index < 0 ? "no country" : data.axes[axis][index][1]);
  const code = (axis, index) => (index < 0 ? "" : data.axes[axis][index][0]);
  const number = (value) => value.toLocaleString("en");
  const plural = (value, one, many) => `${number(value)} ${value === 1 ? one : many}`;
  const kind = (item) => item.kinds.map((word) => word.replaceAll("_", " ")).join(", ");
  const countries = (item) => (item.countries || []).map(([country]) => country).join(", ");

  // Counts and marks are embedded as flat lists of numbers.
  function grouped(numbers, size) {
    const groups = [];
    for (let at = 0; at < numbers.length; at += size) groups.push(numbers.slice(at, at + size));
    return groups;
  }
  // The evidence is JSON, compressed (gzip) and written in base64.
  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const unzipped = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const packed = await new Response(unzipped).json();
    for (const response of packed.responses) response.marks = grouped(response.marks, 3);
    for (const item of packed.items) item.counts = grouped(item.counts, 2);
    return packed;
  }

  function enter(next) {
    data = next;
    state.open = null;
    // For every item, the responses in which it is marked, in the order in which they were chosen.
    responsesOf = data.items.map(() => []);
    data.responses.forEach((response, index) => {
      for (const item of new Set(response.marks.map((mark) => mark[2]))) if (item >= 0) responsesOf[item].push(index);
    });
    haystack = data.items.map((item) =>
      [item.label, item.qid, item.description, kind(item), countries(item), ...(item.labels || []).map((pair) => pair[1])]
        .join("\n").normalize("NFC").toLowerCase());
  }

  // A large run has more than one page holds: a part for each language and topic lies in a folder beside it.
  const loaded = new Map(); // parts by their file's name
  const wanted = () => whole.parts[`${state.chosen.language},${state.chosen.topic}`];

  function load(file) {
    const script = element("script", { src: `report-data/${file}` });
    script.addEventListener("load", async () => {
      const text = window.polyculturePart;
      script.remove();
      const part = await unpack(text);
      if (JSON.stringify(part.axes) !== JSON.stringify(whole.axes)) { say(STRANGE); return; }
      loaded.set(file, part);
      if (wanted() === file) choose();
    });
    script.addEventListener("error", () => { script.remove(); say(ABSENT); });
    document.body.append(script);
  }

  const say = (text) => { document.getElementById("part").textContent = text; };
  const HINT = "This page holds what is mentioned most. Choose a language and a topic to see all of theirs";
  const hint = () => `${HINT}${whole.split.length < AXES.length ? ", and by prompt and country" : ""}.`;
  const ABSENT = "The folder report-data does not stand beside this page, where all of this language and topic would be; " +
    "what follows is what this page holds.";
  const STRANGE = "The folder report-data belongs to another report; what follows is what this page holds.";

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

  // "country:japan" is met by what belongs to the country, "shared:ja+th" by what was named in both languages, any other
  // words where they stand.
  function searched(words, fits) {
    const [word, value] = words.split(/^(country|shared):/).slice(1);
    if (word === "country") return (item) => (item.countries || []).some((pair) => pair[0].toLowerCase() === value.trim());
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

  function draw() {
    const fits = fittingCells();
    const counts = countMentions(fits);
    const found = selected(counts, fits);
    const body = document.getElementById("entities");
    const most = Math.max(1, ...found.map((index) => counts[index]));
    body.replaceChildren(...found.slice(0, state.shown).flatMap((index) => rows(index, counts[index], most, fits)));
    const total = found.reduce((sum, index) => sum + counts[index], 0);
    const all = data.of_status[state.status] || 0;
    const held = data.items.filter((item) => item.status === state.status && item.counts.length).length;
    const note = state.status ? data.statuses.find((status) => status[0] === state.status)[2] : "nothing was mentioned";
    const bound = held < all ? ` Here are the ${number(held)} most mentioned of ${number(all)}; the store holds all.` : "";
    document.getElementById("tally").textContent =
      `${plural(found.length, "row", "rows")} with ${plural(total, "mention", "mentions")}: ${note}.${bound}`;
    document.getElementById("more").hidden = found.length <= state.shown;
    for (const button of document.querySelectorAll("[data-sort]")) {
      const own = button.dataset.sort === state.sort;
      button.parentElement.setAttribute("aria-sort", own ? (state.descending ? "descending" : "ascending") : "none");
    }
  }

  function rows(index, mentions, most, fits) {
    const item = data.items[index];
    const open = state.open === index;
    const button = element("button", { type: "button", className: "open", "aria-expanded": String(open) },
      isolated(item.label, item.qid ? "en" : item.language));
    button.addEventListener("click", () => { state.open = open ? null : index; draw(); focusOn(index); });
    const others = (item.labels || []).flatMap(([language, label], place) => [place ? " · " : "", isolated(label, language)]);
    const bar = element("span", { className: "bar", "aria-hidden": "true" });
    bar.style.width = `${Math.round((100 * mentions) / most)}%`;
    const row = element("tr", { "data-item": index },
      element("th", { scope: "row" }, button, others.length ? element("span", { className: "others" }, ...others) : null,
        item.qid ? null : element("span", { className: "others" }, named("language", item.language), " · ", named("topic", item.topic))),
      element("td", { className: "number" }, number(mentions), bar),
      element("td", {}, kind(item)),
      element("td", {}, countries(item) || "–"),
      element("td", {}, item.qid ? wikidata(item.qid) : "–"));
    return open ? [row, detail(index, mentions, fits)] : [row];
  }

  const named = (axis, wanted) => (data.axes[axis].find((pair) => pair[0] === wanted) || [wanted, wanted])[1];

  function focusOn(index) {
    const button = document.querySelector(`[data-item="${index}"] .open`);
    if (button) button.focus({ preventScroll: true });
  }

  function wikidata(qid, label) {
    if (!/^Q[0-9]+$/.test(qid)) return element("span", {}, qid);
    return element("a", { href: `https://www.wikidata.org/wiki/${qid}`, rel: "noreferrer", target: "_blank" }, label || qid);
  }

  function detail(index, mentions, fits) {
    const item = data.items[index];
    const shown = responsesOf[index].filter((response) => fits[data.responses[response].cell]);
    const box = element("div", { className: "detail-box" }, facts(item));
    const hint = shown.length
      ? `${plural(shown.length, "response", "responses")} of those with these ${plural(mentions, "mention", "mentions")}. All are in the store`
      : "No response with this mention fits the filters among those that the page holds. All are in the store";
    box.append(element("p", { className: "hint" }, hint, item.qid ? ": " : ".", item.qid ? element("code", {}, question(item)) : null));
    const list = element("div", { className: "mentions" });
    const rest = element("button", { type: "button", className: "rest" });
    const append = (many) => {
      list.append(...shown.splice(0, many).map((response) => mention(data.responses[response], index)));
      rest.textContent = `Show ${number(Math.min(MORE, shown.length))} more of ${number(shown.length)}`;
      if (!shown.length) rest.remove();
    };
    rest.addEventListener("click", () => append(MORE));
    box.append(list, element("p", { className: "hint" }, shown.length ? rest : beside(item, fits)));
    append(FIRST);
    return element("tr", { className: "detail" }, element("td", { colSpan: 5 }, box));
  }

  // What the page has no room for, a part beside it may hold: of the language and topic that mention the item most.
  function beside(item, fits) {
    const [most] = item.counts.filter(([cell]) => fits[cell]).sort((a, b) => b[1] - a[1]);
    const [, language, topic] = data.cells[most[0]];
    if (data !== whole || !whole.parts[`${language},${topic}`]) return null;
    const button = element("button", { type: "button", className: "rest" },
      `Read those in ${name("language", language)} on ${name("topic", topic)}`);
    button.addEventListener("click", () => {
      Object.assign(state.chosen, { language, topic });
      state.search = document.getElementById("search").value = item.qid || item.label;
      showChosen();
      choose();
      document.getElementById("tally").focus();
    });
    return button;
  }

  // The mentions that are shown, in SQL: the same item under the same filters.
  function question(item) {
    const quoted = (text) => `'${text.replaceAll("'", "''")}'`;
    const where = [`qid = ${quoted(item.qid)}`, `status = ${quoted(item.status)}`];
    for (const axis of AXES) {
      const at = state.chosen[axis];
      if (at === SOMEBODY) where.push(`starts_with(${axis}, 'implicit')`);
      else if (at < 0) where.push(`${axis} IS NULL`);
      else if (at !== undefined) where.push(`${axis} = ${quoted(code(axis, at))}`);
    }
    if (pair()) where.push(`lower(language) IN (${pair().map(quoted).join(", ")})`);
    return `SELECT * FROM mention_trail WHERE ${where.join(" AND ")}`;
  }

  function facts(item) {
    const list = element("dl", { className: "entity-facts" });
    const fact = (title, ...value) => list.append(element("div", {}, element("dt", {}, title), element("dd", {}, ...value)));
    if (item.description) fact("Described as", isolated(item.description, "en"));
    if (item.countries && item.countries.length) {
      fact("Countries", item.countries.map(([country, property]) => `${country} (${property})`).join(", "));
    } else if (item.qid) fact("Countries", "Wikidata names none");
    if (item.path && item.path.length) {
      fact("Class path", ...item.path.flatMap(([qid, label], step) => [step ? " → " : "", wikidata(qid, label)]));
    }
    if (item.match) fact("Matched by", item.match);
    return list;
  }

  function mention(response, index) {
    const [model, language, topic, condition, country] = data.cells[response.cell];
    const where = [name("model", model), name("language", language), name("topic", topic), name("condition", condition)];
    if (country >= 0) where.push(name("country", country));
    where.push(`sample ${response.sample}`);
    const asked = code("language", language);
    const detected = response.detected || asked;
    if (detected.split("-")[0] !== asked.split("-")[0]) where.push(`answered in ${named("language", detected)}`);
    const text = element("blockquote", { dir: "auto", lang: detected }, ...marked(response, index));
    if (response.cut) text.append(" … (cut here; the store holds all of it)");
    return element("article", { className: "mention" },
      element("p", { className: "where" }, where.join(" · ")),
      element("p", { className: "prompt", dir: "auto", lang: asked }, data.prompts[response.prompt]),
      text);
  }

  // Offsets count characters (code points), JavaScript's strings count UTF-16 units: hence the array.
  function marked(response, index) {
    const letters = Array.from(response.text);
    const parts = [];
    let at = 0;
    for (const [start, end, item] of [...response.marks].sort((a, b) => (b[2] === index) - (a[2] === index) || 0)
      .filter((mark, place, all) => mark[0] !== null && !all.slice(0, place).some((other) => other[0] !== null && mark[0] < other[1] && other[0] < mark[1]))
      .sort((a, b) => a[0] - b[0])) {
      if (start >= letters.length) break;
      parts.push(letters.slice(at, start).join(""));
      const surface = letters.slice(start, end).join("");
      const title = item >= 0 ? data.items[item].label : "";
      parts.push(item === index ? element("mark", {}, surface) : element("span", { className: "other", title }, surface));
      at = end;
    }
    parts.push(letters.slice(at).join(""));
    return parts;
  }

  // From a number to what is behind it: `place` says where on the axes, or which two languages share it.
  function show(place) {
    const { other, ...codes } = place;
    let search = other ? `shared:${codes.language}+${other}` : "";
    if (other) delete codes.language;
    if (codes.condition === "neutral" && codes.country) { // these name no country: what belongs to it is meant
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
    choose();
    const tally = document.getElementById("tally");
    document.getElementById("evidence").scrollIntoView();
    tally.focus({ preventScroll: true });
  }

  function showChosen() {
    for (const axis of AXES) {
      const select = document.getElementById(`filter-${axis}`);
      if (select) select.value = state.chosen[axis] === undefined ? "" : String(state.chosen[axis]);
    }
  }

  // Marks of figures and cells of maps carry what sets them apart from what is around them.
  const MARK = "figure svg a, .heat td:not(.off)";
  function follow(event) {
    const link = event.target.closest("a[data-model]:not(svg a)");
    if (link) { event.preventDefault(); show({ ...link.dataset }); return; }
    const drawing = event.detail ? event.target.closest(DRAWING) : null; // a pointer's click, not the Enter key's
    const mark = drawing ? nearest(drawing, event) : event.target.closest(MARK);
    if (!mark) return;
    event.preventDefault();
    const around = [mark.closest("svg, table"), mark.closest("tr"), headOf(mark), mark];
    show(Object.assign({}, ...around.map((part) => part && part.dataset)));
  }

  // Marks are smaller than a finger and lie close together: a pointer means the nearest within its reach.
  const DRAWING = "figure svg[role=group]";
  const REACH = 12; // pixels
  function nearest(drawing, { clientX, clientY }) {
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
    if (mark) mark.classList.add("near");
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
      if (!beside || beside.matches("td:not(.off)")) return beside;
    }
  }

  function markBeside(mark, right, down) {
    const marks = [...mark.closest("svg").querySelectorAll("a")];
    return marks[marks.indexOf(mark) + right + down];
  }

  function redraw() { state.shown = PAGE; draw(); }

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
        choose();
      });
      box.append(element("div", { className: "field" }, element("label", { htmlFor: select.id }, TITLES[axis]), select));
    }
  }

  function drawStatuses() {
    const box = document.getElementById("statuses");
    const there = data.statuses.filter(([status]) => data.of_status[status]);
    if (!data.of_status[state.status]) state.status = there.length ? there[0][0] : null;
    const labels = there.map(([status, title]) => {
      const all = data.of_status[status];
      const input = element("input", { type: "radio", name: "status", value: status, checked: state.status === status });
      input.addEventListener("change", () => { state.status = status; state.open = null; redraw(); });
      return element("label", {}, input, `${title} (${number(all)})`);
    });
    box.replaceChildren(...labels);
  }

  async function start() {
    const browser = document.getElementById("browser");
    if (!browser) return; // a run of scores alone
    if (!("DecompressionStream" in window)) {
      browser.replaceWith(element("p", { className: "nothing" }, "This table needs a browser of 2023 or later."));
      return;
    }
    data = whole = await unpack(document.getElementById("evidence-data").textContent);
    if (!whole.items.length) {
      browser.replaceWith(element("p", { className: "nothing" }, "There are no mentions yet."));
      return;
    }
    addSelects();
    document.getElementById("search").addEventListener("input", (event) => { state.search = event.target.value.trim(); redraw(); });
    document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());
    document.getElementById("more").addEventListener("click", () => { state.shown += PAGE; draw(); });
    for (const button of document.querySelectorAll("[data-sort]")) {
      button.addEventListener("click", () => {
        state.descending = state.sort === button.dataset.sort ? !state.descending : button.dataset.sort === "mentions";
        state.sort = button.dataset.sort;
        draw();
      });
    }
    document.addEventListener("click", follow);
    document.addEventListener("keydown", move);
    document.addEventListener("pointermove", showNearest);
    browser.hidden = false;
    enter(whole);
    choose();
    performance.mark("usable");
  }

  start();
})();
