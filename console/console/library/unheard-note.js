import { el, withCode } from "../shared/element.js";
import { isSpeechWarning, plainMessage } from "../shared/error-advice.js";
import { routeHash } from "../shared/route.js";
import { count } from "../shared/wording.js";

/** Titles that are named. */
const MAX_TITLES = 20;

/** Says which assets of an index have sound that no search finds, folded; nothing without any. */
export function unheardNote(index, assets) {
  if (assets.length === 0) return [];
  const links = assets.slice(0, MAX_TITLES).map(({ asset_id: id, title }) => {
    return el("li", {}, el("a", { href: routeHash({ index, asset: id }), dir: "auto" }, title));
  });
  const subject = `${count(assets.length, "video")} ${assets.length === 1 ? "has" : "have"}`;
  const text = `${subject} sound but no transcript: what is said isn't found.`;
  const warning = assets[0].warnings.find(isSpeechWarning);
  const advice = el("p", {}, withCode(plainMessage(warning)));
  return [el("details.facts", {}, el("summary", {}, text), advice, el("ul", {}, links))];
}
