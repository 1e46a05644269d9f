import { exampleFile, storeExampleFile, thumbnailOf } from "../search/example-files.js";
import { el } from "../shared/element.js";

/**
 * Renders the example of a watch: a moment, a video or an image of the index, or an image file, which
 * can be chosen here. `onChange` runs after each change.
 */
export function openWatchExample(first, onChange) {
  let example = first;
  const input = el("input.visually-hidden", { type: "file", accept: "image/*" });
  const label = el("span", {}, "");
  const chooser = el("label.button.quiet.chip-button", {}, label, input);
  const chip = el("div.example-outlet");
  const problem = el("div", { role: "alert" });

  const draw = () => {
    const isMissing = example?.kind === "image" && !exampleFile(example);
    chip.replaceChildren(...(example && !isMissing ? [exampleChip(example, remove)] : []));
    label.textContent = example?.kind === "image" ? "Choose another image…" : "Like an image…";
    const text = `“${example?.name}” is only known until the page is reloaded. Choose the file again.`;
    problem.replaceChildren(...(isMissing ? [el("p.notice.bad", {}, text)] : []));
  };
  const set = (newer) => {
    example = newer;
    draw();
    onChange();
  };
  const remove = () => {
    set(null);
    input.focus();
  };
  input.addEventListener("change", () => {
    const [file] = input.files;
    if (file) set({ kind: "image", id: storeExampleFile(file), name: file.name });
    input.value = "";
  });
  draw();
  return {
    root: el("div.stack.tight.watch-example", {}, chip, el("div.row", {}, chooser), problem),
    read: () => example,
  };
}

function exampleChip({ id, kind, name }, onclick) {
  const url = thumbnailOf(id);
  const text = kind === "image" ? `Image: ${name}` : `Like ${name || "a moment of this index"}`;
  return el(
    "div.example",
    {},
    url ? el("img", { src: url, alt: "" }) : null,
    el("span.title", { dir: "auto", title: name }, text),
    el("button.close", { type: "button", "aria-label": "Remove the example", onclick }, "×"),
  );
}
