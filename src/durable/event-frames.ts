import { EVENTS } from "../config.ts";

/*
 * Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html, section 9.2.6), as
 * text. JSON has no line breaks of its own, so that one `data` line holds it.
 */

/** What a listener begins with: where it is, and how soon it should come back. It is no event. */
export function openingFrame(id: string): string {
  return `retry: ${EVENTS.retryMs}\nid: ${id}\n\n`;
}

export function eventFrame({ id, type, payload }: { id: string; type: string; payload: string }) {
  return `id: ${id}\nevent: ${type}\ndata: ${payload}\n\n`;
}

/** Says nothing, to show that the connection stands. */
export const BEAT = ":\n\n";
