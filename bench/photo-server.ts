import type { IncomingMessage, ServerResponse } from "node:http";
import sharp from "sharp";
import { type LoopbackServer, startLoopback } from "../tools/stack/loopback.ts";

const PAGE = 20;
const ACCOUNT = { id: "1", username: "ann", acct: "ann", display_name: "Ann", bot: false };

export interface PhotoServer extends LoopbackServer {
  /** URL of the only profile. */
  profileUrl: string;
  /** Downloads of each image file, by its number. */
  downloadCounts: Map<number, number>;
}

/**
 * Starts a server with the Mastodon API (docs.joinmastodon.org/methods/accounts) and one profile
 * that has `photos` posts with an image each.
 */
export async function startPhotoServer(photos: number): Promise<PhotoServer> {
  const downloadCounts = new Map<number, number>();
  const server = await startLoopback((request, response) => {
    answer(request, response, photos, downloadCounts).catch(() => response.destroy());
  });
  return { ...server, profileUrl: `${server.origin}/@ann`, downloadCounts };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  photos: number,
  downloadCounts: Map<number, number>,
): Promise<void> {
  const origin = `http://${request.headers.host}`;
  const { pathname, searchParams } = new URL(request.url ?? "/", origin);
  if (pathname === "/api/v1/instance") return sendJson(response, { version: "4.4.1" });
  if (pathname === "/api/v1/accounts/lookup") {
    return sendJson(response, { ...ACCOUNT, url: `${origin}/@ann` });
  }
  if (pathname === "/api/v1/accounts/1/statuses") {
    const before = Number(searchParams.get("max_id") ?? photos + 1);
    const ids = Array.from({ length: PAGE }, (_, i) => before - 1 - i).filter((n) => n > 0);
    const last = ids.at(-1) ?? 0;
    const next = `<${origin}${pathname}?max_id=${last}>; rel="next"`;
    const statuses = ids.map((n) => statusOf(n, origin));
    return sendJson(response, statuses, last > 1 ? { link: next } : {});
  }
  const status = /^\/api\/v1\/statuses\/(\d+)$/.exec(pathname);
  if (status) return sendJson(response, statusOf(Number(status[1]), origin));
  const photo = /^\/photos\/(\d+)\.jpg$/.exec(pathname);
  if (!photo) return void response.writeHead(404).end();
  const number = Number(photo[1]);
  downloadCounts.set(number, (downloadCounts.get(number) ?? 0) + 1);
  response.writeHead(200, { "content-type": "image/jpeg" }).end(await drawPhoto(number));
}

function sendJson(response: ServerResponse, body: unknown, headers: Record<string, string> = {}) {
  response.writeHead(200, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

function statusOf(number: number, origin: string) {
  const id = String(number);
  const attachment = {
    id: `a${id}`,
    type: "image",
    url: `${origin}/photos/${id}.jpg`,
    remote_url: null,
    preview_url: `${origin}/photos/${id}.jpg`,
    description: `A card that says ${id}`,
    meta: { original: { width: 320, height: 240 } },
  };
  return {
    id,
    uri: `${origin}/users/ann/statuses/${id}`,
    url: `${origin}/@ann/${id}`,
    created_at: new Date(1_700_000_000_000 + number * 60_000).toISOString(),
    account: { ...ACCOUNT, url: `${origin}/@ann` },
    content: `<p>Card ${id}</p>`,
    visibility: "public",
    sensitive: false,
    spoiler_text: "",
    language: "en",
    reblog: null,
    tags: [],
    media_attachments: [attachment],
  };
}

function drawPhoto(number: number): Promise<Buffer> {
  const hue = (number * 47) % 360;
  const [x, y] = [40 + ((number * 53) % 240), 40 + ((number * 31) % 160)];
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="320" height="240">
    <rect width="320" height="240" fill="hsl(${hue} 60% 70%)"/>
    <circle cx="${x}" cy="${y}" r="30" fill="hsl(${(hue + 180) % 360} 70% 35%)"/>
  </svg>`;
  return sharp(Buffer.from(svg)).jpeg().toBuffer();
}
