// Keys of the page on which a judge judges: each presses the button, or follows the link, that names it.
"use strict";
document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select")) return;
  const named = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === event.key);
  if (!named) return;
  event.preventDefault();
  named.click();
});
