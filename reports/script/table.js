// The table of entities, a row each.

function draw() {
  const fits = fittingCells();
  const counts = countMentions(fits);
  const found = selected(counts, fits);
  const opened = found.findIndex((index) => keyOfItem(data.items[index]) === state.open);
  state.shown = Math.max(state.shown, opened + 1);
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
  fitTables();
}

function rows(index, mentions, most, fits) {
  const item = data.items[index];
  const open = state.open === keyOfItem(item);
  const button = element("button", { type: "button", className: "open", "aria-expanded": String(open) },
    isolated(item.label, item.qid ? "en" : item.language));
  button.addEventListener("click", () => {
    state.open = open ? null : keyOfItem(item);
    state.sentence = null;
    draw();
    focusOn(index);
    remember("evidence");
  });
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

// What an item is called in an address.
const keyOfItem = (item) => item.qid || [item.language, item.topic, item.label].join("/");

function focusOn(index) {
  const button = document.querySelector(`[data-item="${index}"] .open`);
  if (button) button.focus({ preventScroll: true });
}

function redraw() { state.shown = PAGE; draw(); }

// Long tables lie gzipped in the page: with this script they are saved as they are, without it as .csv.gz.
async function unpackTable(event) {
  const link = event.target.closest("a[download$='.csv.gz']");
  if (!link || !("DecompressionStream" in window)) return;
  event.preventDefault();
  const bytes = Uint8Array.from(atob(link.getAttribute("href").split(",")[1]), (letter) => letter.charCodeAt(0));
  const text = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
  hand(new Blob([await text.text()], { type: "text/csv" }), link.download.replace(/\.gz$/, ""));
}

function hand(blob, file) {
  const link = element("a", { href: URL.createObjectURL(blob), download: file });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
