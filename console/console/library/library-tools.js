import { announce, el, errorNotice } from "../shared/element.js";
import { count } from "../shared/wording.js";
import { ORDERS } from "./asset-order.js";

const STATES = [
  ["", "All states"],
  ["ready", "Ready"],
  ["working", "In progress"],
  ["failed", "Failed"],
];
const TYPES = [
  ["", "Videos and images"],
  ["video", "Videos"],
  ["image", "Images"],
];

/**
 * Opens the filters and the order of a library in `outlet`. `onView` gets each new view, `onRetried`
 * the record of each failed asset that is retried.
 */
export function openLibraryTools(index, outlet, { onView, onRetried }) {
  const orders = Object.entries(ORDERS).map(([value, { label }]) => [value, label]);
  const text = el("input", { name: "text", type: "search", placeholder: "Title or folder" });
  text.setAttribute("aria-label", "Words of the title or folder");
  const facts = el("span.facts", { role: "status" }, "");
  const retryButton = el("button.quiet", { type: "button", hidden: true }, "");
  const result = el("div", { role: "alert" });
  const form = el(
    "form.row.tools",
    { "aria-label": "Filter and order", hidden: true },
    text,
    choice("State", "state", STATES),
    choice("Kind", "type", TYPES),
    choice("Order", "order", orders),
    facts,
    retryButton,
  );
  const view = () => {
    const { state, type, order } = form.elements;
    return { state: state.value, type: type.value, text: text.value, order: order.value };
  };
  form.addEventListener("input", () => onView(view()));
  form.addEventListener("submit", (event) => event.preventDefault());

  retryButton.addEventListener("click", async () => {
    retryButton.disabled = true;
    result.replaceChildren();
    try {
      const { retryFailed } = await import("./retry-failed.js");
      const { retried, errors } = await retryFailed(index, onRetried);
      const restarted = `${count(retried, "failed one")} restarted.`;
      if (errors.length === 0) announce(restarted);
      else {
        const message = `${restarted} ${errors.length} not: ${errors[0].message}`;
        result.replaceChildren(errorNotice({ message }));
      }
    } catch (error) {
      result.replaceChildren(errorNotice(error));
    }
    retryButton.disabled = false;
  });
  outlet.replaceChildren(form, result);

  return {
    setView(view) {
      for (const [name, value] of Object.entries(view)) form.elements[name].value = value;
    },
    /** Shows how many assets match, and offers a retry of those that have failed. */
    update({ matching, read, total, failed, isFiltered }) {
      form.hidden = total === 0;
      const unread = read < total ? `, ${read} of ${total} read` : "";
      facts.textContent = isFiltered ? `${matching} of ${total}${unread}` : "";
      retryButton.hidden = failed === 0;
      retryButton.textContent = `Retry all failed (${failed})`;
    },
  };
}

function choice(label, name, options) {
  const items = options.map(([value, text]) => el("option", { value }, text));
  return el("select", { name, "aria-label": label }, items);
}
