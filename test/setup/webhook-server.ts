import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { type LoopbackServer, startLoopback } from "../../tools/stack/loopback.ts";

/** A request of one delivery attempt. */
export interface Received {
  headers: Record<string, string>;
  /** Raw body. */
  body: string;
}

/**
 * A planned response: a status, with a `Location` for a redirect; `break` closes the connection.
 */
export type PlannedResponse = { status: number; location?: string; retryAfter?: string } | "break";

interface Receiver {
  plan: PlannedResponse[];
  received: Received[];
}

/**
 * Starts a server of webhook receivers, one per path, created on first use. POST delivers and gets
 * 204 by default; PUT plans the next responses, a JSON list of `PlannedResponse`; GET lists the
 * received requests.
 */
export function startWebhookServer(): Promise<LoopbackServer> {
  const receivers = new Map<string, Receiver>();
  return startLoopback((request, response) => {
    const path = request.url ?? "/";
    const receiver = receivers.get(path) ?? { plan: [], received: [] };
    receivers.set(path, receiver);
    respond(receiver, request, response).catch(() => response.destroy());
  });
}

async function respond(receiver: Receiver, request: IncomingMessage, response: ServerResponse) {
  const body = await text(request);
  if (request.method === "GET") {
    return response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify(receiver.received));
  }
  if (request.method === "PUT") {
    receiver.plan = JSON.parse(body) as PlannedResponse[];
    return response.writeHead(204).end();
  }
  receiver.received.push({ headers: request.headers as Record<string, string>, body });
  const planned = receiver.plan.shift() ?? { status: 204 };
  if (planned === "break") return response.destroy();
  const { status, location, retryAfter } = planned;
  return response
    .writeHead(status, {
      ...(location !== undefined && { location }),
      ...(retryAfter !== undefined && { "retry-after": retryAfter }),
    })
    .end();
}
