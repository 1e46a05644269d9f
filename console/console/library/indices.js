import { toIndexName } from "../packages/sightline/index-name.js";
import { apiPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { el, fromTemplate, errorNotice, announce, stateBadges } from "../shared/element.js";
import { routeHash } from "../shared/route.js";
import { formatContents } from "../shared/wording.js";
import { apiNameOf, descriptionOf, indexTitle, NUMBERED_CHARACTERS } from "./index-title.js";

/** Opens the list of the account's indices, with the form that creates one. */
export function openIndices() {
  const { root, create, error: errorBox, list } = fromTemplate("indices");
  list.replaceChildren(el("p.facts", {}, "Loading…"));
  void load(list);
  create.addEventListener("submit", async (event) => {
    event.preventDefault();
    errorBox.replaceChildren();
    try {
      const created = await createIndex(create.elements.name.value.trim());
      location.hash = routeHash({ index: created.index_name });
    } catch (error) {
      errorBox.replaceChildren(errorNotice(error));
    }
  });
  return root;
}

/** Indices of one name that are tried, each with the next number. */
const MAX_NUMBER = 20;

/**
 * Creates an index of any name. If the API has no such names, the index gets a similar one, which is
 * free, and this one as the `title` of its metadata.
 */
async function createIndex(title, number = 1) {
  const name = toIndexName(title);
  if (name === title) return await api("POST", apiPath(["index"]), { body: { index_name: name } });
  const numbered = number === 1 ? name : `${name.slice(0, NUMBERED_CHARACTERS)}-${number}`;
  try {
    const body = { index_name: numbered, metadata: { title } };
    return await api("POST", apiPath(["index"]), { body });
  } catch (error) {
    if (error.status !== 409 || number === MAX_NUMBER) throw error;
    return await createIndex(title, number + 1);
  }
}

async function load(list) {
  const cards = el("ul.grid.indices", { "aria-label": "Indices" });
  try {
    let cursor = null;
    do {
      const page = await api("GET", apiPath(["index"], { limit: 100, cursor }));
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
  const title = indexTitle(index);
  const apiName = apiNameOf(index);
  const description = descriptionOf(index);
  return el(
    "li.card.index",
    {},
    el(
      "h2",
      { dir: "auto" },
      el("a.over", { href: routeHash({ index: index.index_name }) }, title),
    ),
    description ? el("p.clamp", {}, description) : null,
    el("p.facts", {}, formatContents(index)),
    apiName ? el("p.facts", {}, apiName) : null,
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
