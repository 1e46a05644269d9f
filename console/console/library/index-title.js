import { toIndexName } from "../packages/sightline/index-name.js";

/** Characters of a name that a number follows: `createIndex` of the list of indices. */
export const NUMBERED_CHARACTERS = 60;

/** Returns the name that a user typed for an index, of which the API's name was made; else that. */
export function indexTitle({ index_name: name, description }) {
  const made = toIndexName(description ?? "");
  const [, base] = /^(.+)-(?:[2-9]|1\d|20)$/.exec(name) ?? [];
  const isMade = made === name || made.slice(0, NUMBERED_CHARACTERS) === base;
  return description && isMade ? description : name;
}

/** Names an index for the API, if its title is another. */
export function apiNameOf(index) {
  return indexTitle(index) === index.index_name ? null : `Name in the API: ${index.index_name}`;
}
