import { toIndexName } from "../packages/sightline/index-name.js";

/** Characters of a name that a number follows: `createIndex` of the list of indices. */
export const NUMBERED_CHARACTERS = 60;

/**
 * Returns the name that a user typed for an index: the `title` of its metadata, or a description of
 * which the API's name was made. Without one, returns the API's name.
 */
export function indexTitle({ index_name: name, description, metadata = {} }) {
  if (isTitle(metadata.title)) return metadata.title;
  const made = toIndexName(description ?? "");
  const [, base] = /^(.+)-(?:[2-9]|1\d|20)$/.exec(name) ?? [];
  const isMade = made === name || made.slice(0, NUMBERED_CHARACTERS) === base;
  return description && isMade ? description : name;
}

/** Names an index for the API, if its title is another. */
export function apiNameOf(index) {
  return indexTitle(index) === index.index_name ? null : `Name in the API: ${index.index_name}`;
}

/** Returns the description of an index; "" if that is its name. */
export function descriptionOf(index) {
  const { description } = index;
  const isName = !isTitle(index.metadata?.title) && description === indexTitle(index);
  return isName ? "" : description;
}

/** Returns the metadata of an index without its name. */
export function metadataOf({ metadata }) {
  const { title, ...others } = metadata;
  return isTitle(title) ? others : metadata;
}

/** Returns the metadata of an index with its name, which isn't stored if it is the API's. */
export function withTitle(metadata, title, name) {
  const typed = title.trim();
  return typed === "" || typed === name ? metadata : { ...metadata, title: typed };
}

function isTitle(title) {
  return typeof title === "string" && title !== "";
}
