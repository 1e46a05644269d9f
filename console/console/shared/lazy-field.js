import { OFFLINE } from "./api-error.js";
import { errorNotice } from "./element.js";

/**
 * Returns a function that resolves to what `load` does, which runs once; undefined if it fails, which
 * is shown in `outlet`.
 */
export function lazyField(outlet, load) {
  let loading = null;
  return async () => {
    try {
      return await (loading ??= load());
    } catch {
      outlet.replaceChildren(errorNotice({ message: OFFLINE }, () => location.reload()));
      return undefined;
    }
  };
}
