import { announce, el } from "../shared/element.js";
import { clock } from "../shared/wording.js";
import { mediaType } from "../uploads/dropped-files.js";
import { exampleFile, storeExampleFile, thumbnailOf } from "./example-files.js";
import { rangeFields, writeRange } from "./range-fields.js";

const THUMBNAIL_PX = 96;

/**
 * Shows the example of a search as a chip in `outlet`, and takes files for it: chosen in `chips`,
 * dropped on `field` or pasted anywhere on the page. `onChange` gets the new example or null.
 */
export function openExampleField({ outlet, field, chips }, onChange) {
  const input = el("input.visually-hidden", {
    type: "file",
    accept: "image/*,video/*,audio/*,.mkv",
  });
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
  document.addEventListener("paste", (event) => {
    const { target, clipboardData } = event;
    const [file] = clipboardData.files;
    const isElsewhere = !field.contains(target) && (isTextField(target) || isDialogOpen());
    if (!file || isElsewhere || !field.checkVisibility()) return;
    event.preventDefault();
    take(file);
  });
  acceptDrop(field, take);

  const show = (example) => {
    // The fields of a clip stay while their values change: one of them has the focus.
    const isShown = example?.kind === "clip" && example.id === current?.id;
    current = example;
    if (isShown && outlet.querySelector("input")) writeRange(outlet, example);
    else outlet.replaceChildren(...(example ? [chip(example)] : []));
  };

  const chip = (example) => {
    const remove = el("button.close", { type: "button", "aria-label": "Remove the example" }, "×");
    remove.addEventListener("click", () => {
      onChange(null);
      field.querySelector("[type=search]").focus();
    });
    const name = el("span.title", { dir: "auto", title: example.name }, describe(example));
    const parts = [thumbnail(example), name];
    if (example.kind === "clip") parts.push(...rangeFields(example, "clip", changeRange));
    return el("div.example", {}, parts.filter(Boolean), remove);
  };

  const changeRange = (range) => {
    // Enter submits the form as well, before the page's address changes.
    current = { ...current, ...range };
    onChange(current);
  };

  return { show, read: () => current };
}

function isTextField(target) {
  return target.closest?.("input, textarea, select, [contenteditable]") !== null;
}

function isDialogOpen() {
  return document.querySelector("dialog[open]") !== null;
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
