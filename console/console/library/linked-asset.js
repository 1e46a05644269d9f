import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { announce, confirmAction, el, errorNotice } from "../shared/element.js";
import { routeHash } from "../shared/route.js";
import { assetCard, isDone } from "./asset-card.js";

const POLL_MS = 1500;

/** Renders a link to a video or an image of an index, by its title. */
export function assetLink(index, id, title) {
  return el("a", { href: routeHash({ index, asset: id }), dir: "auto" }, title ?? id);
}

/** Shows one video or image of an index in `outlet`, opened, with a link to all of them. */
export async function showLinkedAsset(outlet, { index, asset: id }, signal) {
  const type = id.startsWith("img_") ? "image" : "video";
  const path = (...rest) => indexPath(index, [type, id, ...rest]);
  const problem = el("div", { role: "alert" });
  const library = el("a", { href: routeHash({ index }) }, "All videos and images");
  outlet.replaceChildren(library, el("p.facts", {}, "Loading…"));

  const attempt = async (work) => {
    problem.replaceChildren();
    try {
      await work();
    } catch (error) {
      if (!signal.aborted) problem.replaceChildren(errorNotice(error));
    }
  };
  /** Reads the record until the ingest has ended. */
  const follow = async (record, card) => {
    for (let newer = record; !isDone(newer) && !signal.aborted;) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      newer = await api("GET", path(), { signal });
      card.update(newer);
    }
  };
  const actions = (cardOf) => ({
    onRetry: () =>
      attempt(async () => {
        const record = await api("POST", path("retry"));
        cardOf().update(record);
        await follow(record, cardOf());
      }),
    onEdit: (asset) =>
      attempt(async () => {
        const { openAssetEditor } = await import("./asset-editor.js");
        openAssetEditor(asset, path(), (record) => cardOf().update(record));
      }),
    onDelete: (asset) =>
      attempt(async () => {
        const text = `“${asset.title}” and its data will be deleted from this index permanently.`;
        if (!(await confirmAction(`Delete this ${type}?`, text, "Delete"))) return;
        await api("DELETE", path());
        announce(`${asset.title} is deleted.`);
        location.hash = routeHash({ index });
      }),
  });

  try {
    const record = await api("GET", path(), { signal });
    const card = assetCard(
      record,
      actions(() => card),
    );
    const heading = el("h2", {}, type === "image" ? "Image" : "Video");
    outlet.replaceChildren(
      library,
      heading,
      problem,
      el("ul.grid", { "aria-label": "Asset" }, card.root),
    );
    const reread = async () => card.update(await api("GET", path(), { signal }));
    const onSaved = ({ detail }) => detail.id === id && void attempt(reread);
    window.addEventListener("transcript-saved", onSaved, { signal });
    card.root.querySelector("button.over").click();
    if (!isDone(record)) await attempt(() => follow(record, card));
  } catch (error) {
    if (signal.aborted) return;
    const retry = () => showLinkedAsset(outlet, { index, asset: id }, signal);
    outlet.replaceChildren(library, errorNotice(error, error.status === 404 ? undefined : retry));
  }
}
