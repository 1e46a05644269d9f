import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { startLoopback } from "../../tools/stack/loopback.ts";
import { instagramRoute } from "./platforms/instagram.ts";
import { linkHeader, mastodonRoute } from "./platforms/mastodon.ts";
import { peertubeRoute } from "./platforms/peertube.ts";
import { type Fault, type PlatformRequest, type Route, Scenes } from "./platforms/scene.ts";
import { youtubeRoute } from "./platforms/youtube.ts";

export interface PlatformServer {
  /**
   * Origin of PeerTube, Mastodon, YouTube (`/youtube`), Cobalt (`/cobalt/`), Instagram and web
   * pages.
   */
  origin: string;
  /** Origin with the same scenes, with Pixelfed instead of Mastodon. */
  pixelfedOrigin: string;
  /** The `host:port`s of both, in the form of `FETCH_ALLOW`. */
  hosts: string;
  close(): Promise<void>;
}

/**
 * Starts stand-ins of the platforms' APIs, built from their documentation. Tests use them through
 * test/support/platform-stubs.ts.
 *
 * - `PUT /scenes/<name>` with a `Scene` creates or replaces everything of that name: PeerTube's
 *   channel `/c/<name>`, account `/a/<name>`, playlist (by the API only) and search; YouTube's
 *   `@<name>`, playlist and search; Mastodon's and Pixelfed's `/@<name>`; members of
 *   Instagram; the page `/pages/<name>`.
 * - `GET /scenes/<name>` lists the requests to a scene since its last `PUT`.
 * - Faults replace the response: 429 with `Retry-After`, truncated JSON, megabytes, redirects.
 * - `/private` redirects to a private address, `/loop` to itself.
 * - Media and captions are on the file server.
 */
export async function startPlatformServer(filesOrigin: string): Promise<PlatformServer> {
  const scenes = new Scenes();
  const start = (isPixelfed: boolean) =>
    startLoopback((message, response) => {
      respond(scenes, { filesOrigin, isPixelfed }, message, response).catch(() =>
        response.destroy(),
      );
    });
  const [main, pixelfed] = await Promise.all([start(false), start(true)]);
  return {
    origin: main.origin,
    pixelfedOrigin: pixelfed.origin,
    hosts: [main.host, pixelfed.host, main.host.replace("127.0.0.1", "localhost")].join(),
    close: async () => {
      await Promise.all([main.close(), pixelfed.close()]);
    },
  };
}

const ROUTES = [peertubeRoute, mastodonRoute, youtubeRoute, instagramRoute, pageRoute];

async function respond(
  scenes: Scenes,
  server: Pick<PlatformRequest, "filesOrigin" | "isPixelfed">,
  message: IncomingMessage,
  response: ServerResponse,
) {
  const origin = `http://${message.headers.host}`;
  const path = message.url ?? "/";
  const request: PlatformRequest = {
    url: new URL(path, origin),
    body: await text(message),
    origin,
    ...server,
  };
  const { pathname } = request.url;
  if (pathname === "/private")
    return response.writeHead(302, { location: "http://10.0.0.1/" }).end();
  if (pathname === "/loop") return response.writeHead(302, { location: "/loop" }).end();
  if (pathname.startsWith("/scenes/"))
    return handleSceneRequest(scenes, request, message, response);
  const route = ROUTES.reduce<Route | undefined>(
    (found, next) => found ?? next(scenes, request),
    undefined,
  );
  const scene = scenes.get(route?.scene ?? "");
  if (scene) {
    const { method = "", headers } = message;
    scenes.requestsTo(route!.scene).push({ method, path, headers, body: request.body });
  }
  const fault = scene?.faults?.find((fault) => path.includes(fault.path) && fault.times !== 0);
  if (fault) return sendFault(fault, response);
  const body = route?.respond();
  if (body === undefined) return sendJson(response, 404, { error: "Record not found" });
  if (typeof body === "string") {
    return response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(body);
  }
  const link = linkHeader(body, request);
  return sendJson(response, 200, body, link ? { link } : {});
}

function pageRoute(scenes: Scenes, { url, filesOrigin }: PlatformRequest): Route | undefined {
  const scene = /^\/pages\/([^/]+)/.exec(url.pathname)?.[1] ?? "";
  const html = scenes.get(scene)?.html;
  if (html === undefined) return undefined;
  return { scene, respond: () => html.replaceAll("FILES", filesOrigin) };
}

function handleSceneRequest(
  scenes: Scenes,
  request: PlatformRequest,
  message: IncomingMessage,
  response: ServerResponse,
) {
  const name = request.url.pathname.split("/")[2]!;
  if (message.method === "GET") return sendJson(response, 200, scenes.requestsTo(name));
  scenes.put(name, JSON.parse(request.body));
  return sendJson(response, 200, {});
}

function sendFault(fault: Fault, response: ServerResponse) {
  if (fault.times !== undefined) fault.times--;
  response.writeHead(fault.status, { "content-type": "application/json", ...fault.headers });
  return response.end(fault.bytes ? " ".repeat(fault.bytes) : fault.body);
}

function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}) {
  return response
    .writeHead(status, { "content-type": "application/json; charset=utf-8", ...headers })
    .end(JSON.stringify(body));
}
