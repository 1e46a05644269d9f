import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";

/** A photo and captions that people wrote for it. */
export interface CaptionedPhoto {
  path: string;
  captions: string[];
}

const Captions = z.record(z.string(), z.array(z.string()).min(1));

/** Reads the photos that `captions.json` of `folder` names, sorted by name. */
export async function readCaptionedPhotos(folder: string): Promise<CaptionedPhoto[]> {
  const path = join(folder, "captions.json");
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new Error(`${path} is needed: a JSON object of photo name → captions.`, { cause });
  });
  const photos = Object.entries(Captions.parse(JSON.parse(text)));
  photos.sort(([a], [b]) => (a < b ? -1 : 1));
  return photos.map(([name, captions]) => ({
    path: join(folder, name),
    captions: captions.map(attachPunctuation),
  }));
}

/** Removes the space before punctuation: "a dog ." → "a dog."; the captions come tokenised. */
function attachPunctuation(caption: string): string {
  return caption.replaceAll(/ ([.,])/g, "$1");
}
