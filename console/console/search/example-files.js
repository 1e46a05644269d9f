/*
 * What an example needs that the URL can't have: dropped files, and thumbnails. Both live as long as
 * the page.
 */
const files = [];
const thumbnails = new Map();

/** Stores a file and returns the id by which `exampleFile` finds it. */
export function storeExampleFile(file) {
  files.push(file);
  return String(files.length);
}

/** Returns a file, or undefined after a reload of the page. */
export function exampleFile({ id, name }) {
  const file = files[Number(id) - 1];
  return file?.name === name ? file : undefined;
}

export function rememberThumbnail(id, url) {
  if (url) thumbnails.set(id, url);
}

export function thumbnailOf(id) {
  return thumbnails.get(id);
}
