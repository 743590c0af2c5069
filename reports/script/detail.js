// What is behind a row: facts of the entity, and the responses that name it, with their marks.

function detail(index, mentions, fits) {
  const item = data.items[index];
  const shown = responsesOf[index].filter((response) => fits[data.responses[response].cell]);
  const wanted = shown.findIndex((response) => keyOfSentence(data.responses[response]) === state.sentence);
  if (wanted > 0) shown.unshift(...shown.splice(wanted, 1));
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
    chosen();
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
  const key = keyOfSentence(response);
  const link = element("a", { className: "permalink", href: address("evidence", placeOf(response, index, key)) }, "Link to this sentence");
  return element("article", { className: key === state.sentence ? "mention wanted" : "mention" },
    element("p", { className: "where" }, where.join(" · "), " · ", link),
    element("p", { className: "prompt", dir: "auto", lang: asked }, data.prompts[response.prompt]),
    text);
}

// A sentence is found again by its cell, its sample, and its prompt: a cell may have several wordings and names.
function keyOfSentence(response) {
  let hash = 2166136261; // FNV-1a
  for (const letter of data.prompts[response.prompt] ?? "") hash = Math.imul(hash ^ letter.codePointAt(0), 16777619) >>> 0;
  return `${response.sample}.${hash.toString(36)}`;
}

function placeOf(response, index, sentence) {
  const item = data.items[index];
  const values = Object.fromEntries(AXES.map((axis, at) => [axis, data.cells[response.cell][at]])
    .filter(([axis, at]) => at >= 0 || axis === "country").map(([axis, at]) => [axis, at < 0 ? NOWHERE : code(axis, at)]));
  if (item.status !== statuses()[0][0]) values.status = item.status;
  return { ...values, item: keyOfItem(item), sentence };
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
