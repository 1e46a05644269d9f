import { isField } from "../player/player-keys.js";

const KEYS = { "+": true, "-": false, "−": false };

/**
 * Returns which judgment a key stands for: true for relevant, false for not relevant, null for
 * neither. Keys in fields and keys with a modifier other than Shift do nothing.
 */
export function judgmentOfKey({ key, target, ctrlKey, metaKey, altKey }) {
  if (ctrlKey || metaKey || altKey || isField(target)) return null;
  return Object.hasOwn(KEYS, key) ? KEYS[key] : null;
}
