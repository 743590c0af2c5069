// Elements, and how things are named. Whatever comes from a model or from Wikidata is written as text (textContent),
// never as HTML.

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

const named = (axis, wanted) => (data.axes[axis].find((pair) => pair[0] === wanted) || [wanted, wanted])[1];

function wikidata(qid, label) {
  if (!/^Q[0-9]+$/.test(qid)) return element("span", {}, qid);
  return element("a", { href: `https://www.wikidata.org/wiki/${qid}`, rel: "noreferrer", target: "_blank" }, label || qid);
}
