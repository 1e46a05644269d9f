import { posix } from "node:path";
import type { Sources } from "./check-layers.ts";

const LINK = /\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)/g;
/** A file of code that a page names by the end of its path: `read.ts`, `media/read.ts`. */
const CODE_FILE = /`([a-z\d][\w/-]*(?:\.test)?\.ts)`/g;
/** A file that the tutorial's reader makes. */
const OF_READERS: ReadonlySet<string> = new Set(["first.ts"]);
/** Pages on what was, not on what is. */
const HISTORY = /^(?:CHANGELOG\.md$|docs\/experiments\/)/;
const MENTION = /(?<![\w/])(docs\/[\w/-]+\.md)(?:#([\w-]+))?/g;

/**
 * Returns a sentence for each link of a page, each page that code names, and each file of code that
 * a page names, that leads to no file or no heading. `files` are the paths of the repository.
 */
export function findBrokenLinks(
  pages: Sources,
  code: Sources,
  files: ReadonlySet<string>,
): string[] {
  const anchors = new Map([...pages].map(([file, text]) => [file, listAnchors(text)]));
  const check = (at: string, target: string, anchor: string | undefined): string[] => {
    if (!files.has(target)) return [`${at} names ${target}, which doesn't exist`];
    const isMissing = anchor !== undefined && anchors.get(target)?.has(anchor) === false;
    return isMissing ? [`${at} names ${target}#${anchor}: no such heading`] : [];
  };
  const ofPages = [...pages].flatMap(([file, text]) =>
    listMatches(text, LINK).flatMap(({ line, target, anchor }) => {
      const path = target === "" ? file : posix.join(posix.dirname(file), target);
      return check(`${file}:${line}`, path, anchor);
    }),
  );
  const ofCode = [...code].flatMap(([file, text]) =>
    listMatches(text, MENTION).flatMap(({ line, target, anchor }) =>
      check(`${file}:${line}`, target, anchor),
    ),
  );
  const names = new Set([...files].flatMap(listEnds));
  const namedCode = [...pages].flatMap(([file, text]) =>
    listMatches(HISTORY.test(file) ? "" : text, CODE_FILE).flatMap(({ line, target }) => {
      if (names.has(target) || OF_READERS.has(target)) return [];
      return [`${file}:${line} names ${target}, which doesn't exist`];
    }),
  );
  return [...ofPages, ...ofCode, ...namedCode];
}

/** Lists a path and its ends: `a/b.ts` and `b.ts`. */
function listEnds(path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, at) => parts.slice(at).join("/"));
}

function listMatches(text: string, pattern: RegExp) {
  return [...text.matchAll(pattern)].map(({ index, 1: target = "", 2: anchor }) => {
    return { line: text.slice(0, index).split("\n").length, target, anchor };
  });
}

/** Returns the anchors of a page's headings, as GitHub makes them. */
function listAnchors(text: string): Set<string> {
  const withoutCode = text.replaceAll(/^```[^]*?^```/gm, "");
  return new Set(
    [...withoutCode.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}
