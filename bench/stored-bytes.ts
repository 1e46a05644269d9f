import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Bytes in the stores of a local service, and numbers of vectors. */
export interface StoredBytes {
  /** D1. */
  d1: number;
  /** Databases of indices, all together. */
  indexDatabases: number;
  /** `MediaIndex` objects, all together. */
  mediaIndices: number;
  /** R2, by kind of object: `source`, `keyframes` and so on. */
  objects: Record<string, number>;
  textVectors: number;
  imageVectors: number;
}

/** Reads what a state folder holds, from its SQLite files. */
export async function readStoredBytes(folder: string): Promise<StoredBytes> {
  const databases = (path: string) => openAll(join(folder, "v3", path));
  const objects: Record<string, number> = {};
  for await (const db of databases("r2/miniflare-R2BucketObject")) {
    for (const { key, size } of db.prepare("SELECT key, size FROM _mf_objects").all()) {
      const kind = String(key).split("/")[3]?.split(".")[0] ?? "other";
      objects[kind] = (objects[kind] ?? 0) + Number(size);
    }
  }
  let [textVectors, imageVectors] = [0, 0];
  for await (const db of databases("do/sightline-local-VectorSpace")) {
    const counts = db.prepare(
      `SELECT metadata ->> 'kind' IN ('image', 'region') AS isImage, COUNT(*) AS n
       FROM vectors GROUP BY 1`,
    );
    for (const { isImage, n } of counts.all()) {
      if (isImage) imageVectors += Number(n);
      else textVectors += Number(n);
    }
  }
  return {
    d1: await sumPages(databases("d1/miniflare-D1DatabaseObject")),
    indexDatabases: await sumPages(databases("do/sightline-local-IndexDatabase")),
    mediaIndices: await sumPages(databases("do/sightline-local-MediaIndex")),
    objects,
    textVectors,
    imageVectors,
  };
}

/** Opens the database of each object in a folder of Miniflare's. */
async function* openAll(folder: string): AsyncGenerator<DatabaseSync> {
  if (!existsSync(folder)) return;
  for (const name of await readdir(folder)) {
    if (!name.endsWith(".sqlite") || name === "metadata.sqlite") continue;
    const db = new DatabaseSync(join(folder, name), { readOnly: true });
    try {
      yield db;
    } finally {
      db.close();
    }
  }
}

/** Adds up the bytes of the pages in use. */
async function sumPages(databases: AsyncGenerator<DatabaseSync>): Promise<number> {
  let bytes = 0;
  for await (const db of databases) {
    const read = (name: string) => Number(Object.values(db.prepare(`PRAGMA ${name}`).get()!)[0]);
    bytes += (read("page_count") - read("freelist_count")) * read("page_size");
  }
  return bytes;
}
