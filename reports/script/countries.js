// The countries that are not in the first picture: shown are those whose names hold what is sought.

const sought = document.getElementById("country-sought");
if (sought) {
  const panels = [...document.querySelectorAll("#other-countries .panel")];
  sought.addEventListener("input", () => {
    const words = sought.value.trim().toLocaleLowerCase();
    for (const panel of panels) panel.hidden = !panel.querySelector("h3").textContent.toLocaleLowerCase().includes(words);
  });
}
