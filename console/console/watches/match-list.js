import { captionNote } from "../search/media-details.js";
import { momentCard } from "../search/moment.js";
import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { announce, el, errorNotice } from "../shared/element.js";
import { moreButton } from "../shared/paged-list.js";
import { count, dateTime, likelihoodOf, percent } from "../shared/wording.js";
import { followMatches } from "./match-events.js";

const PAGE = 24;

/** Lists the matches of a watch. New ones are added at the top. `onCount` gets their number. */
export function openMatches(index, watchId, onCount) {
  const list = el("ul.grid", { "aria-label": "Matches" });
  const end = el("div.more");
  const note = el("div");
  const root = el("div.stack", {}, list, end, note);
  const listed = new Set();

  const readPage = (cursor) => {
    const query = { limit: PAGE, ...(cursor && { cursor }) };
    return api("GET", indexPath(index, ["watches", watchId, "matches"], query));
  };

  /** Makes cards of the matches that aren't listed yet. */
  const cardsOf = (matches) => {
    const added = matches.filter(({ segment }) => !listed.has(segment.segment_id));
    for (const { segment } of added) listed.add(segment.segment_id);
    if (!note.firstChild) note.append(...captionNote(added.map(({ segment }) => segment)));
    return added.map(matchCard);
  };

  const showMore = async (cursor) => {
    end.replaceChildren(el("p.facts", {}, "Loading…"));
    try {
      const { matches, total, next_cursor: next } = await readPage(cursor);
      const cards = cardsOf(matches);
      list.append(...cards);
      if (cursor) cards[0]?.querySelector("button").focus();
      if (listed.size === 0) end.replaceChildren(el("p.empty", {}, EMPTY));
      else end.replaceChildren(next ? moreButton("Show more", () => showMore(next)) : "");
      onCount(total);
      return true;
    } catch (error) {
      const retry = async () => (await showMore(cursor)) && !cursor && follow();
      end.replaceChildren(errorNotice(error, retry));
      return false;
    }
  };

  /** Adds the matches that came since, up to those that are listed. */
  const addNew = async () => {
    const cards = [];
    let cursor = null;
    let total = 0;
    do {
      const page = await readPage(cursor);
      const isNew = page.matches.every(({ segment }) => !listed.has(segment.segment_id));
      cards.push(...cardsOf(page.matches));
      ({ total } = page);
      cursor = isNew ? page.next_cursor : null;
    } while (cursor);
    if (cards.length === 0) return;
    list.prepend(...cards);
    end.querySelector(".empty")?.remove();
    onCount(total);
    announce(`${count(cards.length, "new match", "new matches")}.`);
  };

  const follow = () => followMatches(root, { index, watchId, onMatches: addNew });

  void showMore(null).then((isLoaded) => isLoaded && follow());
  return root;
}

const EMPTY =
  "No matches yet. Each video and image that is added is compared, unless the watch is paused. What matches appears here.";

function matchCard({ segment, score, matched_at: time }) {
  const match = `${likelihoodOf(score)} match (${percent(score)}) · ${dateTime(time)}`;
  return momentCard(segment, { match });
}
