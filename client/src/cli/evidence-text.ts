import type { Hit } from "../index.ts";
import { sanitizeLine } from "./sanitize.ts";

/** Characters before the first match in an excerpt. */
const CONTEXT_CHARACTERS = 24;

/** Returns the title of a hit and the folder of its file, which comes last: cells are cut there. */
export function titleWithFolder({ folder, title }: Pick<Hit, "folder" | "title">): string {
  return folder ? `${title} (${folder})` : title; // earlier services name none
}

/** Describes the strongest evidence: its kind, and an excerpt with the matches in guillemets. */
export function describeEvidence({
  evidence,
  caption,
  transcript,
  on_screen_text,
}: Pick<Hit, "evidence" | "caption" | "transcript" | "on_screen_text">): string {
  const best = evidence.find(({ text }) => text !== undefined) ?? evidence[0];
  if (!best) return "";
  const fields = {
    speech: transcript,
    text: on_screen_text,
    caption,
    visual: caption,
    title: "",
    description: "",
  };
  const text = best.text === undefined ? fields[best.kind] : fromHtml(best.text);
  return text.trim() === "" ? best.kind : `${best.kind}: ${excerpt(sanitizeLine(text))}`;
}

function excerpt(text: string): string {
  const at = text.indexOf("«");
  return at <= CONTEXT_CHARACTERS ? text : `…${text.slice(at - CONTEXT_CHARACTERS)}`;
}

function fromHtml(text: string): string {
  return text
    .replaceAll("<mark>", "«")
    .replaceAll("</mark>", "»")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
