// The countries of the run: shown are those whose names hold what is sought, and without it those that are not in the
// first picture.

const sought = document.getElementById("country-sought");
if (sought) {
  // Without case, accents, apostrophes and points: "cote d'ivoire" finds Côte d’Ivoire, "st lucia" St. Lucia.
  const plain = (text) =>
    text.normalize("NFD").replace(/[\u0300-\u036f'’.]/g, "").replaceAll("&", "and").toLowerCase().trim();
  const panels = [...document.querySelectorAll("#other-countries .panel")];
  const missing = document.getElementById("country-missing");
  sought.addEventListener("input", () => {
    const words = plain(sought.value);
    for (const panel of panels)
      panel.hidden = words ? !plain(panel.querySelector("h3").textContent).includes(words) : "above" in panel.dataset;
    missing.textContent = panels.every((panel) => panel.hidden) ? "No country of this run has that name." : "";
  });
}
