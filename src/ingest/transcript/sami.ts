import type { Cue } from "../../types.ts";
import { tokenizeMarkup } from "./markup-tokens.ts";
import type { ParsedCues } from "./parsed-cues.ts";

/** Whether a text is SAMI, the captions of Windows Media. */
export function isSami(text: string): boolean {
  return /^\s*(?:<\?[^>]*\?>\s*)?<sami[\s>]/i.test(text);
}

/**
 * Parses SAMI. Each `SYNC` ends what was shown. Of several languages, which are classes of
 * paragraphs, the one with the most text is taken.
 */
export function parseSami(text: string): ParsedCues {
  const byClass = new Map<string, Cue[]>();
  let [time, isBody] = [NaN, false];
  let cue: Cue | null = null;
  const begin = (className: string) => {
    const cues = byClass.get(className) ?? [];
    const last = cues.at(-1);
    if (last && Number.isNaN(last.end)) last.end = time;
    cue = { start: time, end: NaN, text: "" };
    cues.push(cue);
    byClass.set(className, cues);
  };
  for (const token of tokenizeMarkup(text)) {
    if (token.kind === "text") {
      const current: Cue | null = cue;
      if (current && isBody) (current as Cue).text += token.text;
      continue;
    }
    if (token.kind === "close") continue;
    if (token.name === "sync") {
      const start = Number(token.attributes.get("start")?.replace(/ms$/i, "") ?? NaN) / 1000;
      [time, isBody, cue] = [start, !Number.isNaN(start), null];
    } else if (token.name === "p" && isBody) {
      begin(token.attributes.get("class")?.toLowerCase() ?? "");
    } else if (token.name === "br" && cue) {
      (cue as Cue).text += "\n";
    }
  }
  const shown = [...byClass.values()].map((cues) => cues.filter((own) => own.text.trim() !== ""));
  const [longest = []] = shown.toSorted((a, b) => b.length - a.length);
  return { cues: longest, badLines: [] };
}
