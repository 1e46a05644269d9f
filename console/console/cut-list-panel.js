import { readSources, refreshMoments } from "./cut-list-requests.js";
import { formatCsv, momentKey, moveMoment, removeMoment, totalSeconds } from "./cut-list.js";
import { download } from "./download.js";
import { hasMixedRates, joinEditLists } from "./edit-list.js";
import { announce, confirmAction, el, errorNotice, shape } from "./element.js";
import { imageFrame } from "./image-frame.js";
import { onCutListChange, readCutList, storeCutList } from "./stored-cut-list.js";
import { clock, count, range } from "./wording.js";

/** Shows the cut list of an index in `panel`. `toggle` has the focus when the list is empty. */
export function openCutList(index, { toggle, panel }) {
  const list = el("ol.cuts", { "aria-label": "Moments of the cut list" });
  const facts = el("p.facts");
  const outcome = el("div", { role: "alert" });
  const action = (text, onclick) => el("button.quiet", { type: "button", onclick }, text);
  const buttons = [
    action("Download CSV", () => download(`${index}.csv`, "text/csv", formatCsv(read()))),
    action("Download EDL", () => void downloadEdl()),
    action("Empty the list", () => void empty()),
  ];
  const actions = el("p.row", {}, buttons);
  panel.replaceChildren(el("h2", {}, "Cut list"), facts, list, outcome, actions);
  let dragged = null;

  const read = () => readCutList(index);

  const draw = () => {
    const moments = read();
    facts.textContent = summary(moments);
    list.replaceChildren(...moments.map((moment, i) => row(moment, i, moments.length)));
    for (const part of [list, actions]) part.hidden = moments.length === 0;
  };

  /** Stores a changed list and puts the focus on the row at `position`, on the named button. */
  const change = (moments, position, name) => {
    outcome.replaceChildren();
    if (!storeCutList(index, moments)) {
      outcome.replaceChildren(errorNotice(new Error("The browser's storage is full.")));
    }
    const target = list.children[Math.min(position, moments.length - 1)];
    const button = target?.querySelector(`[data-does="${name}"]:not(:disabled)`);
    (button ?? target?.querySelector("button:not(:disabled)") ?? toggle).focus();
  };

  const move = (from, to, name) => {
    change(moveMoment(read(), from, to), to, name);
    announce(`Moved to position ${to + 1}.`);
  };

  const row = (moment, i, length) => {
    const button = (does, text, label, onclick, disabled = false) =>
      el(
        "button.quiet.faint",
        { type: "button", "data-does": does, disabled, onclick, "aria-label": label },
        text,
      );
    const { title, asset_type: type, thumbnail_url: url } = moment;
    const item = el(
      "li.cut",
      { draggable: "true" },
      imageFrame({ url, type }),
      el(
        "div.stack",
        {},
        el("h3", { dir: "auto", title }, title),
        el("p.facts", {}, describe(moment)),
      ),
      el(
        "p.actions.calm",
        {},
        button(
          "up",
          arrow("M8 13V3M3 8l5-5 5 5"),
          `Move up: ${title}`,
          () => move(i, i - 1, "up"),
          i === 0,
        ),
        button(
          "down",
          arrow("M8 3v10M3 8l5 5 5-5"),
          `Move down: ${title}`,
          () => move(i, i + 1, "down"),
          i === length - 1,
        ),
        button("remove", "Remove", `Remove from the cut list: ${title}`, () => {
          change(removeMoment(read(), moment), i, "remove");
          announce("Removed from the cut list.");
        }),
      ),
    );
    item.addEventListener("dragstart", ({ dataTransfer }) => {
      dragged = momentKey(moment);
      dataTransfer.effectAllowed = "move";
      dataTransfer.setData("text/plain", title);
    });
    item.addEventListener("dragend", () => (dragged = null));
    item.addEventListener("dragover", (event) => dragged !== null && event.preventDefault());
    item.addEventListener("drop", (event) => {
      if (dragged === null) return;
      event.preventDefault();
      const from = read().findIndex((one) => momentKey(one) === dragged);
      if (from !== -1) move(from, i, "up");
    });
    return item;
  };

  const empty = async () => {
    const text = "All moments are taken off the list. The videos and images stay in the index.";
    if (!(await confirmAction("Empty the cut list?", text, "Empty the list"))) return;
    change([], 0, "remove");
  };

  const downloadEdl = async () => {
    const moments = read();
    outcome.replaceChildren(el("p.facts", {}, "Making the edit list…"));
    try {
      const existing = moments.filter(({ is_missing: isMissing }) => !isMissing);
      const sources = await readSources(index, existing);
      const text = joinEditLists(index, existing, sources);
      const notes = edlNotes(moments, sources);
      outcome.replaceChildren(...notes.map((note) => el("p.facts", {}, note)));
      if (sources.size > 0) download(`${index}.edl`, "text/plain", text);
    } catch (error) {
      outcome.replaceChildren(errorNotice(error, downloadEdl));
    }
  };

  /** Draws the list and renews expired links. Without an answer of the service these stay. */
  const refresh = async () => {
    draw();
    const refreshed = await refreshMoments(index, read(), Date.now()).catch(() => null);
    const byKey = new Map(refreshed?.map((moment) => [momentKey(moment), moment]));
    // The list may have changed in the meantime.
    const moments = read().map((moment) => byKey.get(momentKey(moment)) ?? moment);
    if (refreshed) storeCutList(index, moments);
  };

  onCutListChange((changed) => changed === index && draw());
  return { refresh };
}

/** Renders an arrow: fonts may lack the characters. */
function arrow(path) {
  const attributes = { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" };
  return shape("svg", attributes, shape("path", { d: path }));
}

function summary(moments) {
  if (moments.length === 0) {
    return "The cut list is empty. Add moments to it with “Add to cut list” under a result.";
  }
  return `${count(moments.length, "moment")}, ${clock(totalSeconds(moments))} in all.`;
}

function describe(moment) {
  const missing = moment.is_missing ? "no longer in the index" : null;
  return [range(moment) ?? "Image", missing].filter(Boolean).join(" · ");
}

function edlNotes(moments, sources) {
  const images = moments.filter(({ start_seconds: start }) => start === null).length;
  const missing = moments.filter(({ is_missing: isMissing }) => isMissing).length;
  return [
    missing > 0 && `${count(missing, "moment")} left out: no longer in the index.`,
    sources.size === 0 && "An edit list has parts of videos only, and this list has none.",
    sources.size > 0 &&
      images > 0 &&
      `${count(images, "image")} left out: an edit list has videos.`,
    hasMixedRates(sources) &&
      "The videos have different frame rates: the edit list counts in the first one's.",
  ].filter(Boolean);
}
