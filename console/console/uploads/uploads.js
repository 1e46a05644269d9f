import { announce, el, errorNotice, replaceCard } from "../shared/element.js";
import { percent } from "../shared/wording.js";
import { fingerprintOf, listStoredUploads } from "./stored-uploads.js";
import { drawUpload, showSent } from "./upload-card.js";
import { deleteSent, isResumable, readSentShare, sendUpload } from "./upload-requests.js";

const CONCURRENCY = 3;

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
    const actions = isResumable(item) ? [["Pause", () => pause(item)]] : [];
    draw(item, "Waiting", { actions, share: item.share ?? 0 });
    waiting.push(item);
    next();
  };

  const draw = (item, state, { actions = [], ...parts }) =>
    drawUpload(item, state, { ...parts, actions: [...actions, ["Remove", () => drop(item)]] });

  const stop = (item) => {
    item.abort?.abort();
    if (waiting.includes(item)) waiting.splice(waiting.indexOf(item), 1);
    item.abort = null;
  };

  const pause = (item) => {
    stop(item);
    const share = item.share ?? 0;
    const actions = [["Continue", () => enqueue(item)]];
    draw(item, `Paused at ${percent(share)}`, { share, actions });
  };

  const drop = async (item) => {
    stop(item);
    try {
      await deleteSent(item);
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
    showSent(item, item.file ? "Uploading" : "Adding");
    try {
      const added = await sendUpload(index, item, {
        onProgress(share) {
          if (signal.aborted) return;
          item.share = share;
          const state = share < 1 ? `Uploading, ${percent(share)}` : "Checking the file";
          showSent(item, state, share);
        },
        onRetry: () => showSent(item, "Interrupted, trying again"),
        signal,
      });
      items.delete(item);
      const isLeftOut = isResumable(item) || added.duplicate;
      onAdded(added, item.card, isLeftOut ? item.transcript : undefined);
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
      actions: [["Continue", chooseFiles]],
      note: el("p.facts", {}, "To continue, choose or drop the same file."),
    });

  return {
    /** Uploads an item of `sortFiles`. A file that was paused or interrupted continues. */
    addFile({ file, path, type, transcript }) {
      const fingerprint = fingerprintOf(index, file);
      const item = itemOf(fingerprint) ?? add({ fingerprint, name: path, size: file.size });
      if (item.abort) return;
      Object.assign(item, { file, path, type, transcript });
      enqueue(item);
    },
    addUrl: (url, type) => enqueue(add({ name: url, size: null, type, url })),
    showUnfinished,
    /** Stops all uploads. Resumable ones can be continued. */
    stopAll: () => [...items].forEach(stop),
    isRunning: () => running > 0,
  };
}
