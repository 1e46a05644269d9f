import { toOneLine } from "./clean-text.ts";
import type { Asset } from "./types.ts";

const MAX_CHARACTERS = 300;

/**
 * Makes a title of a file name or of another text: one line of at most 300 characters, which shows
 * nothing as something else. Empty if nothing is left.
 */
export function cleanTitle(text: string): string {
  return toOneLine(text).slice(0, MAX_CHARACTERS).toWellFormed();
}

/** Returns the last path segment of a URL as a title; the host without any. */
export function titleFromUrl(url: string): string {
  const { pathname, host } = new URL(url);
  const name = pathname.split("/").findLast(Boolean) ?? host;
  try {
    return cleanTitle(decodeURIComponent(name));
  } catch {
    return cleanTitle(name); // malformed percent encoding
  }
}

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
