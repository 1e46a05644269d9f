import { indexPath, upload } from "./api.js";
import { el, errorNotice } from "./element.js";
import { bytes } from "./wording.js";

const CONCURRENCY = 3;

/**
 * Uploads media to an index, `CONCURRENCY` at a time, each with a card at the top of `list`.
 * `onAdded` gets the added asset and the card to replace.
 */
export function openUploads(index, list, onAdded) {
  const waiting = [];
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
    show(
      item,
      "Waiting",
      el("progress", { "aria-label": `Upload of ${item.name}`, max: 1, value: 0 }),
    );
    waiting.push(item);
    next();
  };

  const show = (item, state, ...rest) => {
    const cancel = el(
      "button.quiet.faint",
      { type: "button", "aria-label": `Remove ${item.name}` },
      "Remove",
    );
    cancel.addEventListener("click", () => drop(item));
    const line = el("p.row.between", {}, el("span.facts", {}, state), cancel);
    item.card.replaceChildren(
      el("span.image-frame", {}, el("span.stand-in", {}, item.type)),
      el("h3.title", {}, item.name),
      line,
      ...rest,
    );
  };

  const drop = (item) => {
    item.abort.abort();
    if (waiting.includes(item)) waiting.splice(waiting.indexOf(item), 1);
    item.card.remove();
  };

  const send = async (item) => {
    const [state, bar] = [item.card.querySelector(".facts"), item.card.querySelector("progress")];
    const onProgress = (fraction) => {
      bar.value = fraction;
      state.textContent =
        fraction < 1 ? `Uploading, ${Math.floor(fraction * 100)} %` : "Checking the file";
    };
    state.textContent = item.file ? "Uploading" : "Adding";
    try {
      const added = await upload(item.path, formOf(item), {
        onProgress,
        signal: item.abort.signal,
      });
      onAdded(added, item.card);
    } catch (error) {
      if (item.abort.signal.aborted) return;
      show(
        item,
        "Not added",
        errorNotice(error, () => enqueue(item)),
      );
    }
  };

  return {
    /** Uploads an item of `sortFiles`. */
    addFile({ file, type, transcript }) {
      const card = el("li.card.upload");
      list.prepend(card);
      const name = `${file.name} (${bytes(file.size)}${transcript ? ", with transcript" : ""})`;
      enqueue({ card, name, type, file, transcript, path: indexPath(index, `/${type}`) });
    },
    addUrl(url, type) {
      const card = el("li.card.upload");
      list.prepend(card);
      const path = indexPath(index, `/${type}`, { [`${type}_url`]: url });
      enqueue({ card, name: url, type, path });
    },
    isRunning: () => running > 0,
  };
}

function formOf({ file, type, transcript }) {
  if (!file) return null;
  const form = new FormData();
  if (transcript) form.append("transcript", transcript);
  form.append(`${type}_file`, file);
  return form;
}
