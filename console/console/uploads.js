import { indexPath, upload } from "./api.js";
import { el, problem } from "./element.js";
import { bytes } from "./wording.js";

const AT_ONCE = 3;

/**
 * Sends media to an index, a few at a time, each with a card at the head of `list`. `onAdded` gets
 * the asset that the API answers with, and the card to put in its place.
 */
export function openUploads(index, list, onAdded) {
  const waiting = [];
  let running = 0;

  const next = () => {
    while (running < AT_ONCE && waiting.length > 0) {
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
      el("span.picture", {}, el("span.stand-in", {}, item.type)),
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
    const onProgress = (share) => {
      bar.value = share;
      state.textContent =
        share < 1 ? `Uploading, ${Math.floor(share * 100)} %` : "Checking the file";
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
        problem(error, () => enqueue(item)),
      );
    }
  };

  return {
    /** One file with what `sortFiles` found out about it. */
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
