// The page on which a judge judges. Each key presses the button, or follows the link, that names it. The page that
// follows is fetched and put in the place of this one: a key that is pressed meanwhile waits for it, and none is lost.
"use strict";
(() => {
  // Settles when the page shows what the last answer led to; at first, when it has been read.
  let shown = new Promise((ready) => document.addEventListener("DOMContentLoaded", ready));

  const show = async (address, form) => {
    const answer = await fetch(address, form && { method: "POST", body: new URLSearchParams(form) });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.querySelector("main").replaceWith(page.querySelector("main"));
    history.pushState(null, "", answer.url);
    const heading = document.querySelector("h1");
    heading.tabIndex = -1;
    heading.focus(); // so that a screen reader says what is to be judged next
  };

  const then = (act) => {
    shown = shown.then(act).catch(() => location.reload()); // the browser says why the server does not answer
  };

  const named = (key) => [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key);

  const follow = (one) => {
    if (one.matches("a")) return show(one.href);
    return one.form.reportValidity() && show(one.form.action, new FormData(one.form, one));
  };

  document.addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select")) return;
    then(() => {
      const one = named(event.key);
      return one && follow(one);
    });
  });

  document.addEventListener("submit", (event) => {
    if (event.target.method !== "post") return;
    event.preventDefault();
    const { action } = event.target;
    const form = new FormData(event.target, event.submitter);
    then(() => show(action, form));
  });

  window.addEventListener("popstate", () => location.reload());
})();
