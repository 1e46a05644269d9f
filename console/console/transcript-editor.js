import { api } from "./api.js";
import { formatWebVtt } from "./cues.js";
import { el, errorNotice } from "./element.js";
import { followJob } from "./job.js";
import { clock, percent } from "./wording.js";

/** Texts of cues that were changed and not saved, by video and position. */
const drafts = new Map();

window.addEventListener("beforeunload", (event) => drafts.size > 0 && event.preventDefault());

/** Returns the changed texts of a video, undefined without any. */
export function draftOf(id) {
  return drafts.get(id);
}

/**
 * Renders a field for the text of each cue, and saves them as WebVTT to `path`. Changes last until
 * they are saved or discarded. `onClose` gets the transcript and a sentence for the user.
 */
export function editTranscript({ id, path, transcript, video, onClose }) {
  const { cues, language } = transcript;
  const state = el("p.facts", { role: "status" });
  const outcome = el("div", { role: "alert" });
  const fields = cues.map((cue, i) => {
    const text = drafts.get(id)?.get(i) ?? cue.text;
    const label = `Text at ${clock(cue.start)}`;
    const field = el("textarea", { rows: 2, dir: "auto", "aria-label": label }, text);
    field.addEventListener("focus", () => (video.currentTime = cue.start));
    field.addEventListener("input", () => {
      const draft = drafts.get(id) ?? new Map();
      if (field.value === cue.text) draft.delete(i);
      else draft.set(i, field.value);
      if (draft.size > 0) drafts.set(id, draft);
      else drafts.delete(id);
      update();
    });
    return field;
  });

  const save = el("button.main", { type: "button" }, "Save transcript");
  const cancel = el("button.quiet", { type: "button" });
  const bar = el("progress", { max: 1, value: 0, hidden: true, "aria-label": "Saving" });
  const update = () => {
    const changes = drafts.get(id)?.size ?? 0;
    save.disabled = changes === 0;
    cancel.textContent = changes === 0 ? "Cancel" : "Discard changes";
    state.textContent = changes === 0 ? "" : `${changes} changed, not saved yet.`;
  };
  cancel.addEventListener("click", () => {
    drafts.delete(id);
    onClose(transcript, "");
  });

  const setSaving = (isSaving) => {
    for (const one of [save, cancel, ...fields]) one.disabled = isSaving;
    bar.hidden = !isSaving;
  };
  const onProgress = (share) => {
    bar.value = share;
    state.textContent = `Saved. Updating the search, ${percent(share)}.`;
  };
  const saveChanges = async () => {
    const edited = cues.map((cue, i) => ({ ...cue, text: fields[i].value }));
    if (edited.every(({ text }) => text.trim() === "")) {
      outcome.replaceChildren(errorNotice(new Error("A transcript needs at least one line.")));
      return;
    }
    setSaving(true);
    outcome.replaceChildren();
    state.textContent = "Saving…";
    try {
      const form = new FormData();
      const vtt = formatWebVtt(edited, language);
      form.append("transcript", new File([vtt], "transcript.vtt", { type: "text/vtt" }));
      const { job_id: job } = await api("POST", path, { form });
      await followJob(job, onProgress);
      drafts.delete(id);
      const saved = { ...transcript, cues: edited.filter(({ text }) => text.trim() !== "") };
      onClose(saved, "Saved. Searches use the new text.");
    } catch (error) {
      setSaving(false);
      update();
      outcome.replaceChildren(errorNotice(error, saveChanges));
    }
  };
  save.addEventListener("click", saveChanges);

  update();
  const items = fields.map((field, i) =>
    el("li", {}, el("span.time", {}, clock(cues[i].start)), field),
  );
  const list = el("ol.cues.editing", {}, items);
  const nodes = [list, state, bar, outcome, el("p.row", {}, save, cancel)];
  return { nodes, focus: () => fields[0]?.focus() };
}
