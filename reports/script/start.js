// Unpacks the evidence and makes the page answer.

async function start() {
  document.addEventListener("click", follow);
  document.addEventListener("keydown", move);
  document.addEventListener("pointermove", showNearest);
  document.addEventListener("pointermove", tellUnderPointer);
  document.addEventListener("focusin", tellAtFocus);
  document.addEventListener("focusout", () => tell(null));
  document.addEventListener("scroll", tellAfterScroll, { capture: true, passive: true });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") tell(null); });
  document.addEventListener("click", unpackTable);
  addEventListener("beforeprint", openForPrint);
  addEventListener("afterprint", closeAfterPrint);
  addEventListener("resize", fitTables);
  document.addEventListener("toggle", fitTables, true);
  addPickers();
  addScope();
  addHeads();
  fitTables();
  await startEvidence();
  startAddress();
  performance.mark("usable");
}

async function startEvidence() {
  const browser = document.getElementById("browser");
  if (!browser) return; // a run of scores alone
  if (!("DecompressionStream" in window)) {
    browser.replaceWith(element("p", { className: "nothing" }, "This table needs a browser of 2023 or later."));
    return;
  }
  data = whole = await unpack(document.getElementById("evidence-data").textContent);
  if (!whole.items.length) {
    whole = undefined;
    browser.replaceWith(element("p", { className: "nothing" }, "There are no mentions yet."));
    return;
  }
  addSelects();
  document.getElementById("search").addEventListener("input", (event) => { state.search = event.target.value.trim(); chosen(false); });
  document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("more").addEventListener("click", () => { state.shown += PAGE; draw(); });
  for (const button of document.querySelectorAll("[data-sort]")) {
    button.addEventListener("click", () => {
      state.descending = state.sort === button.dataset.sort ? !state.descending : button.dataset.sort === "mentions";
      state.sort = button.dataset.sort;
      draw();
    });
  }
  browser.hidden = false;
  enter(whole);
  choose();
}

start();
