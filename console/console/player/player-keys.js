const SEEKS = { ArrowLeft: -5, ArrowRight: 5, j: -10, l: 10 };
const FIELDS = new Set(["INPUT", "TEXTAREA", "SELECT"]);
/** Elements that the space bar activates. */
const ACTIVATED = new Set(["BUTTON", "SUMMARY", "A"]);

/** Returns whether keys that are pressed in an element change its text or value. */
export function isField({ tagName, isContentEditable }) {
  return FIELDS.has(tagName) || isContentEditable === true;
}

/**
 * Returns what a key does in the player: `{ seek: seconds }`, `{ toggle: true }` to play or pause,
 * or null. Keys in fields and keys with a modifier do nothing.
 */
export function keyAction({ key, target, ctrlKey, metaKey, altKey, shiftKey }) {
  if (ctrlKey || metaKey || altKey || shiftKey || isField(target)) return null;
  const name = key.length === 1 ? key.toLowerCase() : key;
  if (Object.hasOwn(SEEKS, name)) return { seek: SEEKS[name] };
  if (name === "k") return { toggle: true };
  return name === " " && !ACTIVATED.has(target.tagName) ? { toggle: true } : null;
}
