import { listChosen, listDropped, mediaType } from "./dropped-files.js";
import { isFromPlatform } from "./sources.js";

/**
 * Takes files and folders that are chosen, or dropped anywhere on the page. A folder that can't be
 * read is an error for `onError`.
 */
export function acceptFiles({ root, files, folder }, addFiles, onError) {
  for (const input of [files, folder]) {
    input.addEventListener("change", () => {
      addFiles(listChosen(input.files));
      input.value = "";
    });
  }
  const setDragging = (isDragging) => root.classList.toggle("dragging", isDragging);
  const listen = (name, listener) =>
    document.addEventListener(name, (event) => {
      if (!root.isConnected || !event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      listener(event);
    });
  listen("dragover", () => setDragging(true));
  listen("dragleave", ({ relatedTarget }) => relatedTarget === null && setDragging(false));
  listen("drop", ({ dataTransfer }) => {
    setDragging(false);
    void listDropped(dataTransfer).then(addFiles, onError);
  });
}

const PLACEHOLDERS = {
  page: "https://peertube.example/w/…",
  playlist: "https://peertube.example/c/channel",
  profile: "@name@pixelfed.example, or https://…",
  search: "tide pools at night",
};

/** Takes URLs and searches from the form that adds from the web. */
export function acceptUrl({ url: form, "from-url": toggle, follow: tick }, addUrl) {
  const { url, type, follow } = form.elements;
  const open = (isOpen) => {
    form.hidden = !isOpen;
    toggle.setAttribute("aria-expanded", String(isOpen));
    (isOpen ? url : toggle).focus();
  };
  toggle.addEventListener("click", () => open(form.hidden));
  url.addEventListener("input", () => {
    const name = URL.canParse(url.value) ? new URL(url.value).pathname : "";
    type.value = mediaType({ name }) ?? type.value;
    updateUrlForm();
  });
  const updateUrlForm = () => {
    tick.hidden = !isFromPlatform(type.value) || type.value === "page";
    url.placeholder = PLACEHOLDERS[type.value] ?? "https://…";
  };
  type.addEventListener("change", updateUrlForm);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    addUrl(url.value.trim(), type.value, follow.checked && !tick.hidden);
    form.reset();
    updateUrlForm();
    open(false);
  });
}
