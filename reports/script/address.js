// The reader's place in the address, after the #: a section, the model, language and topic that are shown, and what the evidence is
// asked for.
// It is written in codes ("#evidence&language=ja&item=Q46383"), so that it can be sent to others, and Back leads back.

const ALL_MODELS = "all";
const NOWHERE = "none"; // no country

function chosenValues() {
  const values = {};
  const models = document.getElementById("models");
  if (models && state.model !== models.content.children[0].value) values.of = state.model || ALL_MODELS;
  for (const axis of SCOPES) if (state.only[axis]) values[scopeKey(axis)] = state.only[axis];
  if (!whole) return values;
  for (const axis of AXES) {
    const at = state.chosen[axis];
    if (at !== undefined) values[axis] = at === SOMEBODY ? "implicit" : at < 0 ? NOWHERE : whole.axes[axis][at][0];
  }
  if (state.search) values.search = state.search;
  if (state.status && state.status !== statuses()[0][0]) values.status = state.status;
  if (state.open) values.item = state.open;
  if (state.sentence) values.sentence = state.sentence;
  return values;
}

function address(section, values = chosenValues()) {
  const said = new URLSearchParams(values).toString();
  return `#${encodeURIComponent(section)}${said ? `&${said}` : ""}`;
}

function parsed(hash) {
  const [section, ...rest] = hash.slice(1).split("&");
  let name = section;
  try { name = decodeURIComponent(section); } catch { /* a % that nobody wrote: no part has such a name */ }
  return [name, new URLSearchParams(rest.join("&"))];
}

// Writes the place down: as a new one, which Back leaves, or in the stead of the one before.
function remember(section, anew = true) {
  const next = address(section);
  if (next === location.hash) return;
  history[anew ? "pushState" : "replaceState"]({ ours: true }, "", next);
}

// Brings the page into the state that an address asks for.
function recall(values) {
  const models = document.getElementById("models");
  const known = models ? [...models.content.children].map((option) => option.value) : [];
  const of = values.get("of");
  if (known.length) showModel(of === ALL_MODELS ? EVERY : known.includes(of) ? of : known[0]);
  recallScope(values);
  if (!whole) return;
  state.chosen = {};
  for (const axis of AXES) {
    const wanted = values.get(axis) || (SCOPES.includes(axis) ? state.only[axis] : null);
    const at = whole.axes[axis].findIndex((pair) => pair[0] === wanted);
    if (at >= 0) state.chosen[axis] = at;
    else if (wanted === "implicit" && axis === "condition") state.chosen[axis] = SOMEBODY;
    else if (wanted === NOWHERE && axis === "country") state.chosen[axis] = -1;
  }
  state.search = document.getElementById("search").value = values.get("search") || "";
  state.status = values.get("status");
  state.open = values.get("item");
  state.sentence = values.get("sentence");
  showChosen();
  choose();
}

// Leads to a part of the page: to the sentence of the address where it names one.
function arrive(section) {
  const target = reveal(section);
  const sentence = section === "evidence" && document.querySelector(".mention.wanted");
  if (sentence || target) (sentence || target).scrollIntoView();
  const head = target && target.querySelector(":scope > details > summary");
  if (head) head.focus({ preventScroll: true });
}

// A link within the page keeps what the reader has chosen, unless it says what is to be chosen.
function followLink(event) {
  const link = event.target.closest("a[href^='#']:not(svg a)");
  if (event.defaultPrevented || !link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const [section, values] = parsed(link.getAttribute("href"));
  const kept = new URLSearchParams();
  if (!document.getElementById(section)) return;
  event.preventDefault();
  for (const axis of SCOPES) if (state.only[axis] && !values.has(scopeKey(axis))) kept.set(scopeKey(axis), state.only[axis]);
  if ([...values].length) recall(new URLSearchParams([...values, ...kept]));
  arrive(section);
  remember(section);
}

// Back and Forward, and an address that was typed.
function returned(event) {
  const [section, values] = parsed(location.hash);
  if (event.state) {
    reveal(section);
    recall(values); // the browser scrolls
  } else {
    if ([...values].length) recall(values);
    arrive(section);
    history.replaceState({ ours: true }, "", address(section));
  }
}

function startAddress() {
  const [section, values] = parsed(location.hash);
  if ([...values].length) recall(values);
  if (section) arrive(section);
  history.replaceState({ ours: true }, "", location.hash || location.pathname + location.search);
  addEventListener("popstate", returned);
  document.addEventListener("click", followLink);
}
