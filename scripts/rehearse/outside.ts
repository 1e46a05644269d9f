import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { type LoopbackServer, startLoopback } from "../../tools/stack/loopback.ts";

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** A webhook request. */
interface Delivered {
  headers: Record<string, string>;
  body: string;
}

/** What a deployment reaches over the internet: a file that never comes, and a webhook receiver. */
export interface Outside extends LoopbackServer {
  /** Returns the URL of a new video or image. No request that names it is answered. */
  hangingUrl(): string;
  webhookUrl: string;
  deliveries: Delivered[];
  /** Breaks off the requests of `hangingUrl`. Later ones get a 404. */
  endHanging(): void;
}

/** Starts the server for it. `FETCH_ALLOW` must have its `host`. */
export async function startOutside(): Promise<Outside> {
  const deliveries: Delivered[] = [];
  const hanging = new Map<string, ServerResponse[]>();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { url = "", headers } = request;
    const waiting = hanging.get(UUID.exec(url)?.[0] ?? "");
    if (waiting) waiting.push(response);
    else if (url !== "/webhook") response.writeHead(404).end();
    else {
      deliveries.push({ headers: headers as Record<string, string>, body: await text(request) });
      response.writeHead(204).end();
    }
  };
  const server = await startLoopback((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  const { origin } = server;
  return {
    ...server,
    hangingUrl() {
      const id = crypto.randomUUID();
      hanging.set(id, []);
      return `${origin}/w/${id}`;
    },
    webhookUrl: `${origin}/webhook`,
    deliveries,
    endHanging() {
      for (const responses of hanging.values()) for (const one of responses) one.destroy();
      hanging.clear();
    },
  };
}
