import { cleanTitle } from "./title.ts";
import type { Asset } from "./types.ts";

/** What an asset is called, as texts that searches match. */
export interface AssetNames {
  /** Its folder, and its title as it is, with the extension of a file. */
  title: string;
  /** What its file says that it shows, and the file's keywords. */
  description: string;
}

export function namesOf({ title, technical }: Pick<Asset, "title" | "technical">): AssetNames {
  const { folder, description, keywords } = technical;
  const join = (...parts: unknown[]) =>
    parts.filter((part) => typeof part === "string" && part !== "").join(" · ");
  const list = Array.isArray(keywords) ? keywords.join(", ") : "";
  return {
    title: join(folder, title),
    description: join(description, list),
  };
}

/** Splits the path of a file into its name and its folder, with `/`; the latter may be empty. */
export function splitPath(path: string): { name: string; folder: string } {
  const parts = path.split(/[\\/]/);
  const name = parts.pop()!;
  const folders = parts.map(cleanTitle).filter((part) => !/^(?:\.{0,2}|[a-z]:)$/i.test(part));
  return { name, folder: cleanTitle(folders.join("/")) };
}
