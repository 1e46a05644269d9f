import { restoreFocus } from "../shared/element.js";

/**
 * Reads which card of the results in `outlet` has the focus, and returns a function that moves the
 * focus to that card among other results, or to the one that is in its position.
 */
export function readResultFocus(outlet) {
  const { activeElement: focused } = document;
  if (!outlet.contains(focused)) return () => {};
  const listCards = () => [...outlet.querySelectorAll(".moment")];
  const card = focused.closest(".moment");
  const position = listCards().indexOf(card);
  const isThumb = focused.matches(".thumb");
  const isUndo = focused.matches(".undo");
  const column = card ? [...card.querySelectorAll(".thumb")].indexOf(focused) : -1;
  return () => {
    const cards = listCards();
    const same = cards.find((one) => one.dataset.segment === card?.dataset.segment);
    const next = same ?? cards[Math.min(position, cards.length - 1)];
    const button = isThumb
      ? next?.querySelectorAll(".thumb")[column]
      : next?.querySelector("button");
    (isUndo ? outlet.querySelector(".undo") : button)?.focus();
    restoreFocus();
  };
}
