import { mediaType } from "./dropped-files.js";
import { announce, el } from "./element.js";
import { exampleFile, storeExampleFile, thumbnailOf } from "./example-files.js";
import { secondsField } from "./time-range-form.js";
import { clock } from "./wording.js";

const THUMBNAIL_PX = 96;

/**
 * Shows the example of a search as a chip in `outlet`, and takes files for it: chosen in `chips`,
 * dropped on `field` or pasted there. `onChange` gets the new example or null.
 */
export function openExampleField({ outlet, field, chips }, onChange) {
  const input = el("input.visually-hidden", { type: "file", accept: "image/*,video/*,.mkv" });
  const chooser = el("label.button.quiet.chip-button", {}, "Search by image or clip…", input);
  chips.prepend(chooser);
  let current = null;

  const take = (file) => {
    const type = mediaType(file);
    if (type === null) {
      const text = `${file.name} is neither an image nor a video.`;
      outlet.replaceChildren(el("p.notice.bad", { role: "alert" }, text));
      return;
    }
    const id = storeExampleFile(file);
    const example = { id, name: file.name };
    if (type === "image") onChange({ kind: "image", ...example });
    else onChange({ kind: "clip", ...example, start: 0, end: null });
    announce(`${file.name} is the example to search by.`);
  };

  input.addEventListener("change", (event) => {
    event.stopPropagation();
    if (input.files[0]) take(input.files[0]);
    input.value = "";
  });
  field.addEventListener("paste", (event) => {
    const file = event.clipboardData.files[0];
    if (!file) return;
    event.preventDefault();
    take(file);
  });
  acceptDrop(field, take);

  const show = (example) => {
    // The fields of a clip stay while their values change: one of them has the focus.
    const isShown = example?.kind === "clip" && example.id === current?.id;
    const [from, to] = outlet.querySelectorAll("input");
    current = example;
    if (isShown && to) {
      if (from !== document.activeElement) from.value = example.start;
      if (to !== document.activeElement) to.value = example.end ?? "";
    } else {
      outlet.replaceChildren(...(example ? [chip(example)] : []));
    }
  };

  const chip = (example) => {
    const remove = el("button.close", { type: "button", "aria-label": "Remove the example" }, "×");
    remove.addEventListener("click", () => {
      onChange(null);
      field.querySelector("[type=search]").focus();
    });
    const name = el("span.title", { dir: "auto", title: example.name }, describe(example));
    const parts = [thumbnail(example), name];
    if (example.kind === "clip") parts.push(...clipFields(example));
    return el("div.example", {}, parts.filter(Boolean), remove);
  };

  /** Fields for the part of a local clip to search by. An empty end is the end of the clip. */
  const clipFields = ({ start, end }) => {
    const from = secondsField("Start of the clip in seconds", start);
    const to = secondsField("End of the clip in seconds", end);
    to.placeholder = "end";
    const change = (event) => {
      event.stopPropagation();
      const last = to.value === "" ? null : to.valueAsNumber;
      const isValid = from.valueAsNumber >= 0 && (last === null || last > from.valueAsNumber);
      to.setCustomValidity(isValid ? "" : "The end must come after the start.");
      if (!isValid) {
        to.reportValidity();
        return;
      }
      // Enter submits the form as well, before the page's address changes.
      current = { ...current, start: from.valueAsNumber, end: last };
      onChange(current);
    };
    for (const one of [from, to]) one.addEventListener("change", change);
    return [el("span.bound", {}, "from", from), el("span.bound", {}, "to", to)];
  };

  return { show, read: () => current };
}

function describe({ kind, name, start, end }) {
  const what = { similar: "Like", range: "Like", image: "Image:", clip: "Clip:" }[kind];
  const when = kind === "range" ? `, ${clock(start)}–${clock(end)}` : "";
  return `${what} ${name || "a moment of this index"}${when}`;
}

/** Renders a thumbnail, null without any. A canvas shows local files: the page's policy has no blobs. */
function thumbnail(example) {
  const url = thumbnailOf(example.id);
  if (example.kind === "similar" || example.kind === "range") {
    return url ? el("img", { src: url, alt: "" }) : null;
  }
  const file = exampleFile(example);
  if (example.kind === "clip" || !file) return null;
  const canvas = el("canvas", { "aria-hidden": "true" });
  void drawFile(canvas, file);
  return canvas;
}

async function drawFile(canvas, file) {
  try {
    const image = await createImageBitmap(file);
    const scale = Math.min(1, THUMBNAIL_PX / Math.max(image.width, image.height));
    canvas.width = Math.max(1, Math.round(image.width * scale));
    canvas.height = Math.max(1, Math.round(image.height * scale));
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    image.close();
  } catch {
    canvas.remove();
  }
}

/** Takes a dropped file here, instead of adding it to the index. */
function acceptDrop(field, take) {
  const isFile = ({ dataTransfer }) => dataTransfer?.types.includes("Files");
  const mark = (isOver) => field.classList.toggle("dropping", isOver);
  field.addEventListener("dragover", (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    mark(true);
  });
  field.addEventListener("dragleave", ({ relatedTarget }) => {
    if (!field.contains(relatedTarget)) mark(false);
  });
  field.addEventListener("drop", (event) => {
    mark(false);
    if (!isFile(event)) return;
    event.preventDefault();
    event.stopPropagation();
    document.querySelector(".dragging")?.classList.remove("dragging");
    take(event.dataTransfer.files[0]);
  });
}
