// The evidence browser: filters, sorts and opens the entities that are embedded in the page. Whatever comes from a model
// or from Wikidata is written as text (textContent), never as HTML.
"use strict";

(() => {
  const whole = JSON.parse(document.getElementById("evidence-data").textContent);
  let data = whole; // what the table shows: all of the page, or a part that was loaded
  let responsesOf, haystack;
  const AXES = ["model", "language", "topic", "condition", "country"];
  const TITLES = {
    model: "Model", language: "Language", topic: "Topic", condition: "Prompt", country: "Country in the prompt",
  };
  const PAGE = 50; // rows shown at first
  const FIRST = 4; // responses shown at first
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
  function unpack(packed) {
    for (const response of packed.responses) response.marks = grouped(response.marks, 3);
    for (const item of packed.items) item.counts = grouped(item.counts, 2);
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
    script.addEventListener("load", () => {
      const part = window.polyculturePart;
      script.remove();
      if (JSON.stringify(part.axes) !== JSON.stringify(whole.axes)) { say(STRANGE); return; }
      unpack(part);
      loaded.set(file, part);
      if (wanted() === file) choose();
    });
    script.addEventListener("error", () => { script.remove(); say(ABSENT); });
    document.body.append(script);
  }

  const say = (text) => { document.getElementById("part").textContent = text; };
  const HINT = "This page holds what is mentioned most. Choose a language and a topic to see all of theirs, and by prompt and country.";
  const ABSENT = "The folder report-data does not stand beside this page, where all of this language and topic would be; " +
    "what follows is what this page holds.";
  const STRANGE = "The folder report-data belongs to another report; what follows is what this page holds.";

  // Shows what the filters ask for, from the part that holds it where there is one.
  function choose() {
    const file = wanted();
    const next = loaded.get(file) || whole;
    if (next !== data) enter(next);
    if (file && next === whole) load(file);
    if (Object.keys(whole.parts).length) say(next === whole ? HINT : "");
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
    return data.cells.map((place) => AXES.every((axis, at) => passes(axis, place[at], state.chosen[axis])));
  }

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

  // "country:japan" is met by what belongs to the country, any other words where they stand.
  function searched(needle) {
    const country = needle.startsWith("country:") ? needle.slice("country:".length).trim() : null;
    if (country === null) return (item, index) => haystack[index].includes(needle);
    return (item) => (item.countries || []).some((pair) => pair[0].toLowerCase() === country);
  }

  function selected(counts) {
    const meets = searched(state.search.normalize("NFC").toLowerCase());
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
    const found = selected(counts);
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
    const shown = responsesOf[index].filter((response) => fits[data.responses[response].cell]).slice(0, data.per_item);
    const box = element("div", { className: "detail-box" }, facts(item));
    const hint = shown.length
      ? `${plural(shown.length, "response", "responses")} of those with these ${plural(mentions, "mention", "mentions")}` +
        ` (at most ${data.per_item} are shown). All are in the store`
      : "No response with this mention fits the filters among those that the page holds. All are in the store";
    box.append(element("p", { className: "hint" }, hint, item.qid ? ": " : ".",
      item.qid ? element("code", {}, `SELECT * FROM mention_trail WHERE qid = '${item.qid}'`) : null));
    const cards = shown.map((response) => mention(data.responses[response], index));
    const list = element("div", { className: "mentions" }, ...cards.slice(0, FIRST));
    box.append(list);
    if (cards.length > FIRST) {
      const rest = element("button", { type: "button", className: "rest" }, `Show ${number(cards.length - FIRST)} more`);
      rest.addEventListener("click", () => {
        rest.remove();
        list.append(...cards.slice(FIRST));
      });
      box.append(element("p", { className: "hint" }, rest));
    }
    return element("tr", { className: "detail" }, element("td", { colSpan: 5 }, box));
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

  // From a number to what is behind it: `codes` says where on the axes, `search` what else.
  function show(codes, search) {
    state.chosen = {};
    for (const [axis, wanted] of Object.entries(codes)) {
      const place = data.axes[axis].findIndex((pair) => pair[0] === wanted);
      if (place >= 0) state.chosen[axis] = place;
      else if (wanted === "implicit") state.chosen[axis] = SOMEBODY;
    }
    const fine = state.chosen.condition !== undefined || state.chosen.country !== undefined;
    if (fine && Object.keys(whole.parts).length && state.chosen.topic === undefined) state.chosen.topic = 0;
    for (const axis of AXES) {
      const select = document.getElementById(`filter-${axis}`);
      if (select) select.value = state.chosen[axis] === undefined ? "" : String(state.chosen[axis]);
    }
    state.search = document.getElementById("search").value = search || "";
    choose();
    document.getElementById("evidence").scrollIntoView();
  }

  function follow(event) {
    const link = event.target.closest("a[data-model]");
    if (link) { show({ ...link.dataset }); return; }
    const map = event.target.closest("svg[data-rows]");
    if (!map) return;
    const { rows, columns, left, top, width, height, ...cell } = map.dataset;
    const box = map.getBoundingClientRect();
    const country = JSON.parse(rows)[Math.floor((event.clientY - box.top - top) / height)];
    const language = JSON.parse(columns)[Math.floor((event.clientX - box.left - left) / width)];
    if (country === undefined || language === undefined) return;
    if (cell.condition === "neutral") show({ ...cell, language }, `country:${named("country", country)}`);
    else show({ ...cell, language, country });
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

  function start() {
    unpack(whole);
    const browser = document.getElementById("browser");
    if (!browser) return; // a run of scores alone
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
    browser.hidden = false;
    enter(whole);
    choose();
  }

  start();
})();
