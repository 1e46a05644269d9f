import { announce, confirmAction, el, errorNotice } from "../shared/element.js";
import { count } from "../shared/wording.js";
import { addRow, countChanges, cuesOf, parseTime, rowProblems, rowsOf } from "./cue-rows.js";
import { formatWebVtt } from "./cues.js";
import { replaceTranscript } from "./transcript-files.js";

/** Rows that were changed and not saved, by video. */
const drafts = new Map();

window.addEventListener("beforeunload", (event) => drafts.size > 0 && event.preventDefault());

/** Returns the changed rows of a video, undefined without any. */
export function draftOf(id) {
  return drafts.get(id);
}

/**
 * Renders fields for the times and the text of each cue, and saves them as WebVTT to `path`. Changes
 * last until they are saved or discarded. `onSaved` and `onCancel` close the editor.
 */
export function editTranscript({ id, path, transcript, video, onSaved, onCancel }) {
  const { cues, language } = transcript;
  let rows = drafts.get(id) ?? rowsOf(cues);
  const state = el("p.facts", { role: "status" });
  const outcome = el("div", { role: "alert" });
  const list = el("ol.cues.editing", { "aria-label": "Lines" });
  const action = (label, onclick) => el("button.quiet", { type: "button", onclick }, label);

  const update = () => {
    const changes = countChanges(rows, cues);
    if (changes > 0) drafts.set(id, rows);
    else drafts.delete(id);
    save.disabled = changes === 0;
    cancel.textContent = changes === 0 ? "Cancel" : "Discard changes";
    state.textContent =
      changes === 0 ? "" : `${count(changes, "change")}, not saved yet. Reloading loses them.`;
  };

  const draw = () => {
    list.hidden = rows.length === 0;
    list.replaceChildren(...rows.map((row, i) => rowItem(row, i, { update, draw, list, video })));
  };

  const add = () => {
    const added = addRow(rows, video.currentTime, video.duration);
    rows = added.rows;
    drafts.set(id, rows);
    draw();
    update();
    fieldOf(list, added.position, "text").focus();
    announce(`Line ${added.position + 1} is new.`);
  };

  const discard = async () => {
    const text = "The transcript stays as it was saved last.";
    const changes = countChanges(rows, cues);
    if (changes > 0 && !(await confirmAction("Discard the changes?", text, "Discard"))) return;
    drafts.delete(id);
    onCancel();
  };

  const setSaving = (isSaving) => {
    bar.hidden = !isSaving;
    if (!isSaving) draw();
    for (const one of [save, cancel, addButton]) one.disabled = isSaving;
    for (const one of list.querySelectorAll("input, textarea, button")) {
      one.disabled ||= isSaving;
    }
  };

  const showProblems = (problems) => {
    const messages = problems.slice(0, 5).map(({ message }) => el("p", {}, message));
    const more = problems.length - messages.length;
    if (more > 0) messages.push(el("p", {}, `${count(more, "more line")} with wrong times.`));
    outcome.replaceChildren(el("div.notice.bad", {}, messages));
    draw();
    for (const { position, field } of problems) {
      fieldOf(list, position, field).setAttribute("aria-invalid", "true");
    }
    fieldOf(list, problems[0].position, problems[0].field).focus();
  };

  const saveChanges = async () => {
    const problems = rowProblems(rows, video.duration);
    if (problems.length > 0) return showProblems(problems);
    const edited = cuesOf(rows);
    if (edited.length === 0) {
      outcome.replaceChildren(errorNotice(new Error("A transcript needs at least one line.")));
      return;
    }
    setSaving(true);
    outcome.replaceChildren();
    state.textContent = "Saving…";
    try {
      const vtt = formatWebVtt(edited, language);
      const file = new File([vtt], "transcript.vtt", { type: "text/vtt" });
      await replaceTranscript(path, file, (text, share) => {
        bar.value = share;
        state.textContent = text;
      });
      drafts.delete(id);
      onSaved();
    } catch (error) {
      setSaving(false);
      update();
      outcome.replaceChildren(errorNotice(error, saveChanges));
    }
  };

  const save = el("button.main", { type: "button", onclick: saveChanges }, "Save transcript");
  const cancel = action("Cancel", discard);
  const addButton = action("Add a line", add);
  const bar = el("progress", { max: 1, value: 0, hidden: true, "aria-label": "Saving" });
  draw();
  update();
  const hint = "A new line starts where the video is. Times are minutes and seconds.";
  const buttons = el("p.row", {}, save, cancel);
  const nodes = [list, el("p.row", {}, addButton), el("p.hint", {}, hint)];
  const focus = () => (list.querySelector("textarea") ?? addButton).focus();
  return { nodes: [...nodes, state, bar, outcome, buttons], focus };
}

/** Renders the fields of a row, which they change. */
function rowItem(row, position, { update, draw, list, video }) {
  const number = position + 1;
  const listen = (field, name) => {
    field.dataset.field = name;
    field.disabled = row.isDeleted;
    field.addEventListener("input", () => {
      row[name] = field.value;
      field.removeAttribute("aria-invalid");
      update();
    });
    return field;
  };
  const timeField = (name, label) =>
    listen(el("input.time", { "aria-label": label, value: row[name], autocomplete: "off" }), name);
  const text = el("textarea", { rows: 2, dir: "auto", "aria-label": `Text of line ${number}` });
  text.value = row.text;
  text.addEventListener("focus", () => {
    const start = parseTime(row.start);
    if (start !== null) video.currentTime = start;
  });
  const toggle = () => {
    row.isDeleted = !row.isDeleted;
    draw();
    update();
    list.children[position].querySelector("button").focus();
  };
  const verb = row.isDeleted ? "Restore" : "Delete";
  const attributes = { type: "button", "aria-label": `${verb} line ${number}`, onclick: toggle };
  return el(
    "li",
    { class: row.isDeleted ? "deleted" : null },
    el(
      "div.row.times",
      {},
      timeField("start", `Start of line ${number}`),
      "–",
      timeField("end", `End of line ${number}`),
      el("button.quiet.faint", attributes, verb),
    ),
    listen(text, "text"),
  );
}

function fieldOf(list, position, name) {
  return list.children[position].querySelector(`[data-field="${name}"]`);
}
