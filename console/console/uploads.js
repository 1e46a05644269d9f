import { indexPath, upload } from "./api.js";
import { announce, el, errorNotice, replaceCard } from "./element.js";
import { deleteUpload, readSentShare, uploadResumably } from "./resumable-upload.js";
import { fingerprintOf, listStoredUploads } from "./stored-uploads.js";
import { bytes, percent } from "./wording.js";

const CONCURRENCY = 3;
/** Files of this size are sent in parts: most Cloudflare plans refuse bodies over 100 MB. */
const RESUMABLE_FROM_BYTES = 50_000_000;

/**
 * Uploads media to an index, `CONCURRENCY` at a time, each with a card at the top of `list`.
 * `onAdded` gets the added asset, the card to replace and the transcript that must still be sent.
 * `chooseFiles` opens the browser's dialog.
 */
export function openUploads(index, list, { onAdded, chooseFiles }) {
  const waiting = [];
  /** Uploads that are shown, also paused and failed ones. */
  const items = new Set();
  let running = 0;

  const next = () => {
    while (running < CONCURRENCY && waiting.length > 0) {
      running += 1;
      void send(waiting.shift()).finally(() => {
        running -= 1;
        next();
      });
    }
  };

  const enqueue = (item) => {
    item.abort = new AbortController();
    const pause = isResumable(item) && action("Pause", item, pauseItem);
    draw(item, "Waiting", { actions: [pause], share: item.share ?? 0 });
    waiting.push(item);
    next();
  };

  const draw = (item, state, { actions = [], share = null, note = null }) => {
    const { name, type, card } = item;
    const bar = { "aria-label": `Upload of ${name}`, max: 1, value: share };
    card.replaceChildren(
      el("span.image-frame", {}, el("span.stand-in", {}, type)),
      el("h3.whole-title", { dir: "auto" }, name),
      el("p.facts", {}, item.size === null ? "" : `${bytes(item.size)}${withTranscript(item)}`),
      el(
        "div.row.between",
        {},
        el("span.facts.state", {}, state),
        el("span.actions", {}, actions.filter(Boolean), action("Remove", item, drop)),
      ),
      ...[share === null ? null : el("progress", bar), note].filter(Boolean),
    );
  };

  /** Renders a button. What it draws anew gets the focus back on its first button. */
  const action = (verb, item, run) => {
    const onclick = () => {
      run(item);
      item.card.querySelector("button")?.focus();
    };
    const label = `${verb} ${item.name}`;
    return el("button.quiet.faint", { type: "button", "aria-label": label, onclick }, verb);
  };

  const stop = (item) => {
    item.abort?.abort();
    if (waiting.includes(item)) waiting.splice(waiting.indexOf(item), 1);
    item.abort = null;
  };

  const pauseItem = (item) => {
    stop(item);
    const share = item.share ?? 0;
    const state = `Paused at ${percent(share)}`;
    draw(item, state, { share, actions: [action("Continue", item, enqueue)] });
  };

  const drop = async (item) => {
    stop(item);
    try {
      if (item.fingerprint) await deleteUpload(item.fingerprint);
      remove(item);
      announce(`${item.name} is removed.`);
    } catch (error) {
      draw(item, "Not removed", { note: errorNotice(error, () => drop(item)) });
    }
  };

  const remove = (item) => {
    items.delete(item);
    replaceCard(item.card);
  };

  const send = async (item) => {
    const { signal } = item.abort;
    const [state, bar] = [item.card.querySelector(".state"), item.card.querySelector("progress")];
    const onProgress = (share) => {
      item.share = share;
      bar.value = share;
      state.textContent = share < 1 ? `Uploading, ${percent(share)}` : "Checking the file";
    };
    const onRetry = () => (state.textContent = "Interrupted, trying again");
    state.textContent = item.file ? "Uploading" : "Adding";
    try {
      const added = isResumable(item)
        ? await uploadResumably(index, item.file, { onProgress, onRetry, signal })
        : await upload(item.path, formOf(item), { onProgress, signal });
      items.delete(item);
      onAdded(added, item.card, isResumable(item) ? item.transcript : undefined);
    } catch (error) {
      if (signal.aborted) return;
      item.abort = null;
      const retry = error.isFinal ? undefined : () => enqueue(item);
      draw(item, "Not added", { note: errorNotice(error, retry) });
    }
  };

  const add = (item) => {
    item.card = el("li.card.upload");
    list.prepend(item.card);
    items.add(item);
    return item;
  };

  const itemOf = (fingerprint) => [...items].find((item) => item.fingerprint === fingerprint);

  /** Shows uploads that this browser began and didn't finish. They need their files again. */
  const showUnfinished = async () => {
    for (const stored of listStoredUploads(index)) {
      if (itemOf(stored.fingerprint)) continue;
      const item = add({ ...stored, type: "video", abort: null });
      try {
        item.share = await readSentShare(stored);
        if (item.abort) continue; // The file was chosen in the meantime.
        if (item.share === null) remove(item);
        else drawUnfinished(item);
      } catch (error) {
        draw(item, "Unfinished", { note: errorNotice(error) });
      }
    }
  };

  const drawUnfinished = (item) =>
    draw(item, `Stopped at ${percent(item.share)}`, {
      share: item.share,
      actions: [action("Continue", item, chooseFiles)],
      note: el("p.facts", {}, "To continue, choose or drop the same file."),
    });

  return {
    /** Uploads an item of `sortFiles`. A file that was paused or interrupted continues. */
    addFile({ file, type, transcript }) {
      const fingerprint = fingerprintOf(index, file);
      const item = itemOf(fingerprint) ?? add({ fingerprint, name: file.name, size: file.size });
      if (item.abort) return;
      Object.assign(item, { file, type, transcript, path: indexPath(index, `/${type}`) });
      enqueue(item);
    },
    addUrl(url, type) {
      const path = indexPath(index, `/${type}`, { [`${type}_url`]: url });
      enqueue(add({ name: url, size: null, type, path }));
    },
    showUnfinished,
    /** Stops all uploads. Resumable ones can be continued. */
    stopAll: () => [...items].forEach(stop),
    isRunning: () => running > 0,
  };
}

function isResumable({ file }) {
  return file !== undefined && file.size >= RESUMABLE_FROM_BYTES;
}

function withTranscript({ transcript }) {
  return transcript ? ", with transcript" : "";
}

function formOf({ file, type, transcript }) {
  if (!file) return null;
  const form = new FormData();
  if (transcript) form.append("transcript", transcript);
  form.append(`${type}_file`, file);
  return form;
}
