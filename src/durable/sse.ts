import { EVENTS } from "../config.ts";

/*
 * Server-sent events as text (section 9.2.6 of
 * https://html.spec.whatwg.org/multipage/server-sent-events.html). Payloads are JSON without line
 * breaks, so that one `data` line holds a payload.
 */

/** Opens a stream: sets the last event id and the delay before a reconnect. Not an event itself. */
export function openingFrame(id: string): string {
  return `retry: ${EVENTS.retryMs}\nid: ${id}\n\n`;
}

/** Formats one event. */
export function eventFrame({ id, type, payload }: { id: string; type: string; payload: string }) {
  return `id: ${id}\nevent: ${type}\ndata: ${payload}\n\n`;
}

/** A comment line, which keeps an idle connection open. */
export const HEARTBEAT = ":\n\n";
