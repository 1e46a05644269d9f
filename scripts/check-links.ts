import { posix } from "node:path";
import type { Sources } from "./check-layers.ts";

const LINK = /\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)/g;
const MENTION = /(?<![\w/])(docs\/[\w/-]+\.md)(?:#([\w-]+))?/g;

/**
 * Returns a sentence for each link of a page, and each page that code names, that leads to no file
 * or no heading. `files` are the paths of the repository.
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
  return [...ofPages, ...ofCode];
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
