import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { type LoopbackServer, startLoopback } from "../../scripts/stack/loopback.ts";

/** What a receiver got at one attempt. */
export interface Received {
  headers: Record<string, string>;
  /** To the letter. */
  body: string;
}

/** How a receiver answers: a status, with a `Location` where it is a redirect, or not at all. */
export type Answer = { status: number; location?: string; retryAfter?: string } | "break";

interface Box {
  plan: Answer[];
  received: Received[];
}

/**
 * Receivers of webhooks, one a path, made as they are asked for. POST delivers; PUT, a JSON list of `Answer`s,
 * says what the next deliveries are answered, 204 otherwise; GET shows what was received.
 */
export function startWebhookServer(): Promise<LoopbackServer> {
  const boxes = new Map<string, Box>();
  return startLoopback((request, response) => {
    const path = request.url ?? "/";
    const box = boxes.get(path) ?? { plan: [], received: [] };
    boxes.set(path, box);
    answer(box, request, response).catch(() => response.destroy());
  });
}

async function answer(box: Box, request: IncomingMessage, response: ServerResponse) {
  const body = await text(request);
  if (request.method === "GET") {
    return response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify(box.received));
  }
  if (request.method === "PUT") {
    box.plan = JSON.parse(body) as Answer[];
    return response.writeHead(204).end();
  }
  box.received.push({ headers: request.headers as Record<string, string>, body });
  const planned = box.plan.shift() ?? { status: 204 };
  if (planned === "break") return response.destroy();
  const { status, location, retryAfter } = planned;
  return response
    .writeHead(status, {
      ...(location !== undefined && { location }),
      ...(retryAfter !== undefined && { "retry-after": retryAfter }),
    })
    .end();
}
