// The evidence: what is embedded in the page, and the parts of it that lie beside a page of a large run.

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
