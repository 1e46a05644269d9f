import { el } from "../shared/element.js";
import { thumbnailOf } from "./example-files.js";
import { rangeFields, writeRange } from "./range-fields.js";
import { isVideo } from "./scope.js";

/**
 * Shows the video or image that searches and questions are about as a chip in `outlet`, with the
 * part of a video while `isAsking`. `onChange` gets a new scope or null.
 */
export function openScopeField(outlet, onChange) {
  let current = null;

  const show = (scope, isAsking) => {
    const hasRange = scope !== null && isAsking && isVideo(scope);
    const isShown = scope !== null && scope.id === current?.id;
    const fields = outlet.querySelectorAll("input");
    current = scope;
    if (isShown && hasRange && fields.length > 0) writeRange(outlet, scope);
    else if (!isShown || hasRange !== fields.length > 0) {
      outlet.replaceChildren(...(scope ? [chip(scope, hasRange)] : []));
    }
  };

  const chip = (scope, hasRange) => {
    const label = "Search the whole index again";
    const onclick = () => {
      current = null;
      onChange(null);
    };
    const remove = el("button.close", { type: "button", "aria-label": label, onclick }, "×");
    const url = thumbnailOf(scope.id);
    const name = scope.name || (isVideo(scope) ? "one video" : "one image");
    const change = (range) => {
      // Enter submits the form as well, before the page's address changes.
      current = { ...current, ...range };
      onChange(current);
    };
    return el(
      "div.example",
      {},
      url ? el("img", { src: url, alt: "" }) : null,
      el("span.title", { dir: "auto", title: name }, `Only in ${name}`),
      ...(hasRange ? rangeFields(scope, "part", change) : []),
      remove,
    );
  };

  return { show, read: () => current };
}
