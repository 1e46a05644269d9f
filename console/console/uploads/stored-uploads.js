const STORED = "sightline-uploads";

/**
 * Remembers the URLs of unfinished resumable uploads in this browser, so that they continue after a
 * reload. A file is recognised by its index, name, size and time of change.
 */
export function fingerprintOf(index, { name, size, lastModified }) {
  return JSON.stringify([index, name, size, lastModified]);
}

/** Returns the path of a file's unfinished upload; null if there is none. */
export function storedUpload(fingerprint) {
  return readAll()[fingerprint] ?? null;
}

export function storeUpload(fingerprint, url) {
  writeAll({ ...readAll(), [fingerprint]: url });
}

export function removeStoredUpload(fingerprint) {
  const { [fingerprint]: _, ...others } = readAll();
  writeAll(others);
}

export function clearStoredUploads() {
  localStorage.removeItem(STORED);
}

/** Lists the unfinished uploads of an index. */
export function listStoredUploads(index) {
  return Object.entries(readAll())
    .map(([fingerprint, url]) => {
      const [ofIndex, name, size] = JSON.parse(fingerprint);
      return { fingerprint, url, index: ofIndex, name, size };
    })
    .filter((upload) => upload.index === index);
}

function readAll() {
  return JSON.parse(localStorage.getItem(STORED) ?? "{}");
}

function writeAll(uploads) {
  localStorage.setItem(STORED, JSON.stringify(uploads));
}
