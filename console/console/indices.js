import { api } from "./api.js";
import { el, fromTemplate, problem, say, stateBadges } from "./element.js";
import { routeHash } from "./route.js";
import { holdings } from "./wording.js";

/** The list of the account's indices, and the form that makes one. */
export function openIndices() {
  const { root, create, problem: wrong, list } = fromTemplate("indices");
  void load(list);
  create.addEventListener("submit", async (event) => {
    event.preventDefault();
    wrong.replaceChildren();
    try {
      const made = await api("POST", "/index", {
        body: { index_name: create.elements.name.value },
      });
      location.hash = routeHash({ index: made.index_name });
    } catch (error) {
      wrong.replaceChildren(problem(error));
    }
  });
  return root;
}

async function load(list) {
  const cards = el("ul.grid.indices", { "aria-label": "Indices" });
  try {
    let cursor = "";
    do {
      const page = await api("GET", `/index?limit=100${cursor && `&cursor=${cursor}`}`);
      cards.append(...page.indices.map(card));
      cursor = page.next_cursor;
    } while (cursor);
  } catch (error) {
    list.replaceChildren(problem(error, () => load(list)));
    return;
  } finally {
    list.removeAttribute("aria-busy");
  }
  const isEmpty = cards.childElementCount === 0;
  if (!isEmpty) say(`Indices: ${cards.childElementCount}`);
  list.replaceChildren(isEmpty ? nothing() : cards);
}

function card(index) {
  return el(
    "li.card.index",
    {},
    el("h2", {}, el("a.over", { href: routeHash({ index: index.index_name }) }, index.index_name)),
    index.description ? el("p.clamp", {}, index.description) : null,
    el("p.facts", {}, holdings(index)),
    stateBadges(index.states),
  );
}

function nothing() {
  return el(
    "div.empty",
    {},
    el("h2", {}, "No index yet"),
    el(
      "p",
      {},
      "An index holds the videos and images that you search together. Give it a name above and create it; then drop files into it.",
    ),
  );
}
