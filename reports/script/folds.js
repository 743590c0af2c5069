// Sections are folds, and figures and tables show one model at a time: the one that is chosen in any of them.

const EVERY = ""; // all models at once
const OF = "[data-of]"; // what is about one model

// Opens every fold around an element, and its own; brings the model that it is about. Returns the element.
function reveal(id) {
  const target = document.getElementById(id);
  if (!target) return null;
  const own = target.querySelector(":scope > details.question");
  if (own) own.open = true;
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  const away = target.closest(`${OF}.away`);
  if (away) showModel(away.dataset.of);
  for (const chosen of document.querySelectorAll(".chosen-answers")) chosen.classList.remove("chosen-answers");
  if (target.matches(".answers")) target.classList.add("chosen-answers");
  return target;
}

// Shows what is about a model; a section that has nothing about it shows all.
function showModel(model) {
  state.model = model;
  for (const section of document.querySelectorAll("main > section")) {
    const parts = [...section.querySelectorAll(OF)];
    const shown = parts.some((part) => part.dataset.of === model) ? model : EVERY;
    for (const part of parts) part.classList.toggle("away", shown !== EVERY && part.dataset.of !== shown);
    for (const select of section.querySelectorAll(".picker select")) select.value = shown;
  }
  fitTables();
}

function addPickers() {
  const models = document.getElementById("models");
  if (!models) return; // there is one model
  const known = [...models.content.children].map((option) => option.value);
  for (const section of document.querySelectorAll("main > section")) {
    const own = new Set([...section.querySelectorAll(OF)].map((part) => part.dataset.of));
    if (known.filter((model) => own.has(model)).length < 2) continue;
    const select = element("select", {}, models.content.cloneNode(true), element("option", { value: EVERY }, "all models"));
    select.addEventListener("change", () => {
      const before = select.getBoundingClientRect().top;
      showModel(select.value);
      scrollBy({ top: select.getBoundingClientRect().top - before, behavior: "instant" }); // it stays where it was pressed
      remember(section.id);
    });
    section.querySelector("summary").after(element("p", { className: "picker" }, element("label", {}, "Model ", select)));
  }
  showModel(known[0]);
}

// A table that fits into its box needs no scrolling of its own: its head then stays at the top of the window.
function fitTables() {
  const boxes = [...document.querySelectorAll(".scroll:has(> table:not(.heat))")];
  const fits = boxes.map((box) => box.scrollWidth <= box.clientWidth);
  boxes.forEach((box, at) => box.classList.toggle("fits", fits[at]));
}

// Paper has no folds.
let closed = [];
function openForPrint() {
  closed = [...document.querySelectorAll("details:is(.question, .more):not([open])")];
  for (const fold of closed) fold.open = true;
}
function closeAfterPrint() {
  for (const fold of closed) fold.open = false;
}
