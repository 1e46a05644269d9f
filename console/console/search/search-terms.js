import { lazyField } from "../shared/lazy-field.js";
import { hasConditions, hasSteps, NO_TERMS } from "./terms.js";

/**
 * Opens what a search asks for beside its words: fields in `outlet`, which `buttons` add. They are
 * loaded when the first is needed. `onChange` runs when a change may give another search.
 */
export function openTerms({ outlet, buttons }, onChange) {
  let shown = NO_TERMS;
  let field = null;
  const open = lazyField(outlet, async () => {
    const { openTermsField } = await import("./terms-field.js");
    field = openTermsField(outlet, buttons, onChange);
    field.write(shown);
    return field;
  });
  buttons.addEventListener("click", async ({ target }) => {
    const { term } = target.closest("button")?.dataset ?? {};
    if (term) (await open())?.add(term);
  });
  return {
    /** Returns the steps and conditions; null if a number is invalid, which is shown. */
    read: () => (field ? field.read() : shown),
    write({ steps, within, all, none, around }) {
      shown = { steps, within, all, none, around };
      if (field) field.write(shown);
      else if (hasSteps(shown) || hasConditions(shown)) void open();
    },
  };
}
