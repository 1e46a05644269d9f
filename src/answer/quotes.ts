/** What is between quotation marks. */
export interface Quotation {
  said: string;
  /** False: the text ends before it does. */
  isClosed: boolean;
}

/** In this order: a mark that closes in one language opens in another. */
const STYLES = [
  /„([^“”]*)([“”])?/gu,
  /“([^”]*)(”)?/gu,
  /”([^”]+)(”)/gu,
  /(?<!«[^»]*)»([^«»]+)(«)/gu,
  /«([^»]*)(»)?/gu,
  /「([^」]*)(」)?/gu,
  /(?<![\p{L}\p{N}])"([^"]*)(")?/gu,
  /(?<![\p{L}\p{N}])‘((?:[^’]|’(?=\p{L}))*)(’)?/gu,
  /(?<![\p{L}\p{N}])'(.+?)(')(?![\p{L}\p{N}])/gu,
];

/** The quotations of a text; apostrophes, inches and minutes are none. */
export function quotationsIn(text: string): Quotation[] {
  const found: Quotation[] = [];
  let rest = text;
  for (const style of STYLES) {
    rest = rest.replaceAll(style, (_, said: string, end?: string) => {
      found.push({ said, isClosed: end !== undefined });
      return " ";
    });
  }
  return found;
}
