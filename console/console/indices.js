import { api } from "./api.js";
import { el, fromTemplate, errorNotice, announce, stateBadges } from "./element.js";
import { routeHash } from "./route.js";
import { formatContents } from "./wording.js";

/** Opens the list of the account's indices, with the form that creates one. */
export function openIndices() {
  const { root, create, error: errorBox, list } = fromTemplate("indices");
  list.replaceChildren(el("p.facts", {}, "Loading…"));
  void load(list);
  create.addEventListener("submit", async (event) => {
    event.preventDefault();
    errorBox.replaceChildren();
    try {
      const created = await api("POST", "/index", {
        body: { index_name: create.elements.name.value },
      });
      location.hash = routeHash({ index: created.index_name });
    } catch (error) {
      errorBox.replaceChildren(errorNotice(error));
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
    list.replaceChildren(errorNotice(error, () => load(list)));
    return;
  } finally {
    list.removeAttribute("aria-busy");
  }
  const isEmpty = cards.childElementCount === 0;
  if (!isEmpty) announce(`Indices: ${cards.childElementCount}`);
  list.replaceChildren(isEmpty ? emptyList() : cards);
}

function card(index) {
  return el(
    "li.card.index",
    {},
    el("h2", {}, el("a.over", { href: routeHash({ index: index.index_name }) }, index.index_name)),
    index.description ? el("p.clamp", {}, index.description) : null,
    el("p.facts", {}, formatContents(index)),
    stateBadges(index.states),
  );
}

function emptyList() {
  return el(
    "div.empty",
    {},
    el("h2", {}, "No index yet"),
    el(
      "p",
      {},
      "An index contains the videos and images that you search together. Name it above and create it; then drop files into it.",
    ),
  );
}
