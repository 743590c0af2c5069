// The page on which a speaker of a language reviews prompts. Answers stay in the browser; the file that it saves is a
// sheet of `polyculture prompts review`, so that one reader reads both.
"use strict";
(() => {
  const review = JSON.parse(document.getElementById("review").textContent);
  const part = (id) => document.getElementById(id);
  const prompts = [...document.querySelectorAll("[data-id]")];
  const QUESTIONS = ["natural", "relation", "same"]; // those that have to be answered; `says` and `note` are optional
  const KEY = `polyculture-review-${review.id}`;

  // What was answered, and by whom. A browser may refuse to keep it: the page then holds it while it is open.
  const unkept = () => { part("unkept").hidden = false; };
  const read = () => {
    try {
      return JSON.parse(localStorage.getItem(KEY)) || {};
    } catch {
      unkept();
      return {};
    }
  };
  const keep = () => {
    try {
      localStorage.setItem(KEY, JSON.stringify(state));
    } catch {
      unkept();
    }
  };
  const random = () => [...crypto.getRandomValues(new Uint8Array(6))].map((one) => (one % 36).toString(36)).join("");
  const state = { code: `reviewer-${random()}`, name: "", at: "", answers: {}, ...read() };

  const answersOf = (prompt) => (state.answers[prompt.dataset.id] ??= {});
  const asked = (prompt) => QUESTIONS.filter((one) => prompt.querySelector(`[data-question="${one}"]`));
  const openOf = (prompt) => asked(prompt).filter((one) => !answersOf(prompt)[one]);
  const legend = (prompt, question) =>
    prompt.querySelector(`[data-question="${question}"]`).closest("fieldset").querySelector("legend").textContent;

  // The file: the rows of the sheet with the answers in their cells.
  const judge = () => state.name.replace(/\p{C}/gu, " ").trim() || state.code;
  const cell = (value) => `"${(/^[=+\-@＝＋－＠\t\r]/.test(value) ? `'${value}` : value).replaceAll('"', '""')}"`;
  const sheet = () => {
    const rows = review.rows.map((row, place) => {
      const values = { ...row, ...answersOf(prompts[place]), unanswered: openOf(prompts[place]).join(" "), judge: judge() };
      return review.columns.map((name) => cell(values[name] ?? "")).join(",");
    });
    return `\ufeff${[review.columns.join(","), ...rows].join("\r\n")}\r\n`;
  };
  const file = () => {
    const name = judge().replace(/[^\p{L}\p{M}\p{N} _-]/gu, "").trim() || state.code;
    return new File([sheet()], `${name}.${review.language}.csv`, { type: "text/csv" });
  };

  const tell = () => {
    const done = prompts.filter((one) => !openOf(one).length).length;
    const line = `${done} of ${prompts.length} prompts answered`;
    if (part("standing").textContent !== line) part("standing").textContent = line; // a screen reader says each change
    part("progress").value = done;
  };

  // The English is shown once the text was judged without it.
  const reveal = (prompt) => {
    const english = prompt.querySelector(".english");
    const before = asked(prompt).filter((one) => one !== "same");
    if (english && before.every((one) => one in answersOf(prompt))) english.open = true;
  };

  const item = (...parts) => {
    const line = document.createElement("li");
    line.append(...parts);
    return line;
  };
  const leadingTo = (prompt) => {
    const link = document.createElement("a");
    link.href = `#${prompt.id}`;
    link.textContent = prompts.indexOf(prompt) + 1;
    return link;
  };
  const summarize = () => {
    const open = prompts.filter((one) => openOf(one).length);
    part("whole").textContent = open.length
      ? `${open.length} of ${prompts.length} prompts have questions that you left open:`
      : `All ${prompts.length} prompts are answered. Thank you.`;
    const untouched = open.filter((one) => openOf(one).length === asked(one).length);
    const partly = open.filter((one) => !untouched.includes(one));
    part("open").replaceChildren(
      ...(untouched.length ? [item("Not answered: prompt ", ...untouched.flatMap((one) => [leadingTo(one), " "]))] : []),
      ...partly.map((one) => item("Prompt ", leadingTo(one), `: ${openOf(one).map((name) => legend(one, name)).join(" ")}`)),
    );
    part("code").textContent = state.code;
    part("text").value = sheet();
    part("share").hidden = !navigator.canShare?.({ files: [file()] });
    part("saved").textContent = "";
  };

  const show = (id) => {
    const step = document.querySelector(`.step[id="${CSS.escape(id)}"]`) || part("begin");
    for (const one of document.querySelectorAll(".step")) one.hidden = one !== step;
    if (step.dataset.id) state.at = step.id;
    if (step.id === "end") summarize();
    const start = part("start");
    if (state.at) {
      start.href = `#${state.at}`;
      start.textContent = `Continue with prompt ${state.at.split("-")[1]}`;
    }
    keep();
    scrollTo({ top: 0, behavior: "instant" });
    step.focus({ preventScroll: true }); // a screen reader reads its heading. A browser focuses an address's place, too
  };

  document.addEventListener("input", (event) => {
    const { question } = event.target.dataset;
    if (event.target.id === "judge") {
      state.name = event.target.value;
      part("text").value = sheet();
    } else if (question) {
      const prompt = event.target.closest("[data-id]");
      answersOf(prompt)[question] = event.target.value;
      reveal(prompt);
      tell();
    }
    keep();
  });

  part("save").addEventListener("click", () => {
    const saved = file();
    const link = document.createElement("a");
    link.href = URL.createObjectURL(saved);
    link.download = saved.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    part("saved").textContent = `Saved as ${saved.name}.`;
  });

  part("share").addEventListener("click", () => navigator.share({ files: [file()] }).catch(() => {})); // closed again

  part("forget").addEventListener("click", () => {
    if (!confirm("Delete all your answers to this page from this browser?")) return;
    try {
      localStorage.removeItem(KEY);
    } catch {
      // they were never kept
    }
    location.replace(location.pathname);
  });

  for (const prompt of prompts) {
    for (const [question, value] of Object.entries(answersOf(prompt))) {
      for (const field of prompt.querySelectorAll(`[data-question="${question}"]`)) {
        if (field.type === "radio") field.checked = field.value === value;
        else field.value = value;
      }
    }
    reveal(prompt);
  }
  part("judge").value = state.name;
  window.addEventListener("hashchange", () => show(location.hash.slice(1)));
  tell();
  show(location.hash.slice(1));
})();
