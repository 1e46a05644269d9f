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
      const message = "This can't be loaded. Check the connection and reload.";
      outlet.replaceChildren(errorNotice({ message }, () => location.reload(), "Reload"));
      return undefined;
    }
  };
}
