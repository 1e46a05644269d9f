import { download } from "../shared/download.js";
import { announce, confirmAction, el, errorNotice } from "../shared/element.js";
import { clock, count } from "../shared/wording.js";
import { formatCsv } from "./cut-list-csv.js";
import { EXPORT_FORMATS, readExport, refreshMoments } from "./cut-list-requests.js";
import { openRows } from "./cut-list-row.js";
import { listForExport, momentKey, moveMoment, removeMoment, totalSeconds } from "./cut-list.js";
import { onCutListChange, readCutList, storeCutList } from "./stored-cut-list.js";

/** Shows the cut list of an index in `panel`. `toggle` has the focus when the list is empty. */
export function openCutList(index, { toggle, panel }) {
  const list = el("ol.cuts", { "aria-label": "Moments of the cut list" });
  const facts = el("p.facts");
  const outcome = el("div", { role: "alert" });
  const action = (text, onclick) => el("button.quiet", { type: "button", onclick }, text);
  const options = EXPORT_FORMATS.map(({ format, title }) => el("option", { value: format }, title));
  const formats = el("select", { "aria-label": "Format for an editor" }, options);
  const buttons = [
    action("Download CSV", () => download(`${index}.csv`, "text/csv", formatCsv(read()))),
    formats,
    action("Download for an editor", () => void downloadExport()),
    action("Empty the list", () => void empty()),
  ];
  const actions = el("p.row", {}, buttons);
  panel.replaceChildren(el("h2", {}, "Cut list"), facts, list, outcome, actions);
  const row = openRows({
    onMove: (from, to, name) => move(from, to, name),
    onDrop(key, to) {
      const from = read().findIndex((one) => momentKey(one) === key);
      if (from !== -1) move(from, to, "up");
    },
    onRemove(moment, i) {
      change(removeMoment(read(), moment), i, "remove");
      announce("Removed from the cut list.");
    },
  });

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

  const empty = async () => {
    const text = "All moments are taken off the list. The videos and images stay in the index.";
    if (!(await confirmAction("Empty the cut list?", text, "Empty the list"))) return;
    change([], 0, "remove");
  };

  const downloadExport = async () => {
    const { format, extension } = EXPORT_FORMATS.find((one) => one.format === formats.value);
    const moments = read();
    const listed = listForExport(moments);
    outcome.replaceChildren(el("p.facts", {}, "Making the file…"));
    try {
      const text = listed.length > 0 ? await readExport(index, format, listed) : null;
      outcome.replaceChildren(...exportNotes(moments, listed));
      if (text !== null) download(`${index}.${extension}`, "text/plain", text);
    } catch (error) {
      outcome.replaceChildren(errorNotice(error, downloadExport));
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

function summary(moments) {
  if (moments.length === 0) {
    return "The cut list is empty. Add moments to it with “Add to cut list” under a result.";
  }
  return `${count(moments.length, "moment")}, ${clock(totalSeconds(moments))} in all.`;
}

/** Says how many moments a file lacks. */
function exportNotes(moments, listed) {
  const missing = moments.length - listed.length;
  if (missing === 0) return [];
  return [el("p.facts", {}, `${count(missing, "moment")} left out: no longer in the index.`)];
}
