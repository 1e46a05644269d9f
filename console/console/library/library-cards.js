import { closeStage } from "../player/stage.js";
import { el, errorNotice, replaceCard } from "../shared/element.js";
import { assetCard } from "./asset-card.js";

/** Cards that are shown at once. */
const PAGE = 100;

/**
 * Draws the cards of a library in `list`, with the `actions` of each, and below it, in `more`, what
 * shows more of them: `onMore` is then called, with whether more are shown than were read.
 */
export function openCards({ list, more }, actions, onMore) {
  const cards = new Map();
  let shownCount = PAGE;

  const cardOf = (asset) => {
    const card = cards.get(asset.asset_id) ?? assetCard(asset, actions);
    cards.set(asset.asset_id, card);
    return card.root;
  };

  /** Shows the cards of assets. New ones at the end leave the others, and the player, in place. */
  const draw = (assets, { hasMore, isEmpty, note }) => {
    const roots = assets.slice(0, shownCount).map(cardOf);
    const present = [...list.querySelectorAll(":scope > .asset")];
    if (present.every((root, i) => root === roots[i])) {
      list.append(...roots.slice(present.length));
    } else {
      closeStage();
      for (const root of present) root.remove();
      list.append(...roots);
    }
    const onclick = () => {
      shownCount += PAGE;
      onMore(assets.length < shownCount && hasMore);
    };
    const button = el("button", { type: "button", onclick }, "Show more");
    more.replaceChildren(
      assets.length > shownCount || hasMore ? button : "",
      note ? el("p.facts", {}, note) : "",
      isEmpty ? el("p.empty", {}, "Nothing matches these filters.") : "",
    );
  };

  return {
    draw,
    /** Shows the first cards only, as of a new view. */
    reset: () => (shownCount = PAGE),
    /** Updates the card of an asset, if it has one. */
    update: (asset) => cards.get(asset.asset_id)?.update(asset),
    remove(id) {
      const root = cards.get(id)?.root;
      if (root?.classList.contains("current")) closeStage();
      if (root) replaceCard(root);
      cards.delete(id);
    },
    /**
     * Replaces the card of an upload by the card of its asset, at its place among the `matching`
     * ones. An asset that doesn't match stays in place of the upload.
     */
    replaceUpload(placeholder, asset, matching) {
      const isPresent = cards.get(asset.asset_id)?.root.isConnected;
      const card = cardOf(asset);
      if (isPresent) {
        replaceCard(placeholder);
        card.scrollIntoView({ block: "nearest" });
        return;
      }
      replaceCard(placeholder, card);
      const position = matching.findIndex(({ asset_id: id }) => id === asset.asset_id);
      if (position === -1) return;
      const hadFocus = card.contains(document.activeElement);
      const isShown = ({ asset_id: id }) => cards.get(id)?.root.isConnected;
      const next = matching.slice(position + 1).find(isShown);
      list.insertBefore(card, next ? cards.get(next.asset_id).root : null);
      if (hadFocus) card.querySelector("button").focus();
    },
    showLoading: () => more.replaceChildren(el("p.facts", {}, "Loading…")),
    showError: (error, retry) => more.replaceChildren(errorNotice(error, retry)),
  };
}
