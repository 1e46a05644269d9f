import { randomBytes } from "node:crypto";
import { copyFile, open, stat } from "node:fs/promises";
import { join } from "node:path";
import { encodeFilm } from "../scripts/sample/film.ts";
import { drawWords } from "../scripts/sample/words-picture.ts";

const CHUNK = 2 ** 20;

/** A film of three seconds, in a folder. */
export async function makeFilm(folder: string): Promise<string> {
  const film = join(folder, "film.mp4");
  const picture = await drawWords(["LARGE"], { width: 320, height: 180 });
  await encodeFilm(film, [{ picture, seconds: 3 }], { width: 320, height: 180, fps: 10 });
  return film;
}

/** A playable MP4 of `bytes` bytes: the film, and behind it a box to be skipped (ISO 14496-12, `free`) of noise. */
export async function makeLarge(film: string, file: string, bytes: number): Promise<void> {
  await copyFile(film, file);
  const { size } = await stat(film);
  const box = Buffer.alloc(8);
  box.writeUInt32BE(bytes - size);
  box.write("free", 4);
  const handle = await open(file, "r+");
  try {
    await handle.write(box, 0, 8, size);
    for (let at = size + 8; at < bytes; at += CHUNK) {
      await handle.write(randomBytes(Math.min(CHUNK, bytes - at)), 0, undefined, at);
    }
  } finally {
    await handle.close();
  }
}
