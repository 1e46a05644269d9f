/** The text between quotation marks. */
export interface Quotation {
  text: string;
  /** False if the closing mark is missing. */
  isClosed: boolean;
}

/** Tried in this order: a mark that closes in one language opens in another. */
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

/** Finds quotations; apostrophes, inch and minute marks are none. */
export function findQuotations(text: string): Quotation[] {
  const quotations: Quotation[] = [];
  let rest = text;
  for (const style of STYLES) {
    rest = rest.replaceAll(style, (_, quoted: string, end?: string) => {
      quotations.push({ text: quoted, isClosed: end !== undefined });
      return " ";
    });
  }
  return quotations;
}
