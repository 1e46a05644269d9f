import { api, apiText } from "../shared/api.js";
import { download } from "../shared/download.js";
import { confirmAction, el, errorNotice } from "../shared/element.js";
import { percent } from "../shared/wording.js";
import { followJob } from "./job.js";

/** Formats of the API that a transcript is downloaded in. */
const FORMATS = { srt: "SRT", vtt: "WebVTT", txt: "Text", json: "JSON" };

/**
 * Sends a transcript to `path` and follows its job. `onProgress` gets sentences and shares. At the end
 * the window gets the event "transcript-saved" with the index and the id of the video.
 */
export async function replaceTranscript(path, file, onProgress) {
  const form = new FormData();
  form.append("transcript", file);
  const { job_id: job } = await api("POST", path, { form });
  await followJob(job, (share) =>
    onProgress(`Saved. Updating the search, ${percent(share)}.`, share),
  );
  const [, index, , id] = path.path;
  window.dispatchEvent(new CustomEvent("transcript-saved", { detail: { index, id } }));
}

/**
 * Renders a button that replaces the transcript at `path` by a file. `isNew` leaves out the question
 * whether the present one may be replaced. `onSaved` is called at the end.
 */
export function uploadButton({ path, isNew, outcome, onSaved }) {
  const input = el("input", { type: "file", hidden: true, accept: ".srt,.vtt,.json,.txt" });
  const label = isNew ? "Upload a file…" : "Replace by a file…";
  const button = el("button.quiet.faint", { type: "button" }, label);
  button.addEventListener("click", () => input.click());
  const send = async (file) => {
    button.disabled = true;
    const state = el("p.facts", { role: "status" }, `Sending ${file.name}…`);
    outcome.replaceChildren(state);
    try {
      await replaceTranscript(path, file, (text) => (state.textContent = text));
      onSaved();
    } catch (error) {
      outcome.replaceChildren(errorNotice(error, () => send(file)));
    }
    button.disabled = false;
  };
  input.addEventListener("change", async () => {
    const [file] = input.files;
    input.value = "";
    const text = `${file?.name} replaces the present transcript. Download that first to keep it.`;
    if (!file || (!isNew && !(await confirmAction("Replace the transcript?", text, "Replace")))) {
      return;
    }
    await send(file);
  });
  return [button, input];
}

/** Renders buttons that download the transcript at `path` in each format. */
export function downloadButtons({ path, title, outcome }) {
  const save = async (format) => {
    outcome.replaceChildren();
    try {
      const text = await apiText("GET", { ...path, query: { format } });
      const name = `${title.replace(/\.\w{1,5}$/, "")}.${format}`;
      download(name, "text/plain", text);
    } catch (error) {
      outcome.replaceChildren(errorNotice(error, () => save(format)));
    }
  };
  return Object.entries(FORMATS).map(([format, name]) => {
    const label = `${name}: download the transcript`;
    const attributes = { type: "button", "aria-label": label, onclick: () => save(format) };
    return el("button.quiet.faint", attributes, name);
  });
}
