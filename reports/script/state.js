// What the page holds, what its table shows, and what its reader has chosen.

let whole; // what the page itself holds
let data; // what the table shows: all of the page, or a part that was loaded
let responsesOf, haystack;
const AXES = ["model", "language", "topic", "condition", "country"];
const TITLES = {
  model: "Model", language: "Language", topic: "Topic", condition: "Prompt", country: "Country in the prompt",
};
const PAGE = 50; // rows shown at first
const FIRST = 4; // responses shown at first
const MORE = 20; // and with every press of the button
const SOMEBODY = -2; // of the conditions: those that name a person
const state = {
  search: "", status: null, sort: "mentions", descending: true, shown: PAGE, chosen: {},
  open: null, // the key of the item whose sentences are shown
  sentence: null, // of these, the one that the address names
  model: "", // that figures and tables show; empty for all
  only: { language: "", topic: "" }, // what the whole page shows; empty for all
};
