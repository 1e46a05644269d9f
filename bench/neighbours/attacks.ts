import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import sharp from "sharp";
import { HOSTILE_SHAPES } from "../../tools/hostile-text/shapes.ts";
import { listOperations, type OpenApi } from "../../tools/openapi.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import { arbitraryRequest } from "../contract/requests.ts";
import { writeShortVideo } from "../large-video.ts";

/** A request of the attacker. */
export interface Attack {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: NonNullable<RequestInit["body"]>;
}

/** Operations under attack: each makes its next request. */
export type Attacks = Record<string, () => Attack>;

/** Indices of the attacker. */
export const ATTACKED_INDICES = Array.from({ length: 9 }, (_, at) => `attack-${at}`);
const INDEX = `/index/${ATTACKED_INDICES[0]}`;
const QUERY_CHARACTERS = 2000;
const MIB = 2 ** 20;

/**
 * Makes attacks on every public operation: the dearest valid requests, hostile texts and files, and
 * at last what the contract's fuzzer sends to each. `folder` takes generated files.
 */
export async function makeAttacks(folder: string, seed: number): Promise<Attacks> {
  const shapes = Object.values(HOSTILE_SHAPES);
  let turn = seed;
  const next = <T>(list: readonly T[]): T => list[turn++ % list.length]!;
  const text = (length: number) => next(shapes)(length);
  const query = () => `${turn} ${text(QUERY_CHARACTERS)}`.slice(0, QUERY_CHARACTERS);
  const conditions = () =>
    Array.from({ length: 5 }, (_, at) =>
      `word${turn++} ${query()}${at}`.slice(0, QUERY_CHARACTERS),
    );
  const clip = await readFile(await writeShortVideo(folder));
  const images = await makeImages();
  const films = makeFilms(clip);
  const document: OpenApi = JSON.parse(await readFile(join(PROJECT, "openapi.json"), "utf8"));
  const fuzzed = fc.sample(
    fc.oneof(...listOperations(document).map((one) => arbitraryRequest(one, "https://a.example"))),
    { seed, numRuns: 500 },
  );
  return {
    "a search with long words": () => json(`${INDEX}/search`, { query: query() }),
    "a search with ten conditions": () =>
      json(`${INDEX}/search`, { query: query(), all: conditions(), none: conditions() }),
    "a search of several indices with ten conditions": () =>
      json("/search", {
        query: query(),
        index_names: ATTACKED_INDICES,
        all: conditions(),
        none: conditions(),
      }),
    "a search for a sequence": () => json(`${INDEX}/search`, { sequence: conditions() }),
    "a deep filter": () => json(`${INDEX}/search`, { query: query(), filter: deepFilter() }),
    "counts by groups": () =>
      json(`${INDEX}/aggregate`, { query: query(), group_by: "metadata.a", unit: "seconds" }),
    "an answer": () => {
      const question = query().slice(0, 500).toWellFormed();
      return get(`${INDEX}/answer?query=${encodeURIComponent(question)}`);
    },
    "a search by image": () => form(`${INDEX}/search_image`, { image_file: next(images) }),
    "a search by clip": () => form(`${INDEX}/search_video`, { video_file: next(films) }),
    "a file of text": () =>
      form(`${INDEX}/search_image`, { image_file: new Blob([next(openings()) + text(MIB)]) }),
    "lists and exports": () =>
      get(next(["/index", INDEX, `${INDEX}/traverse`, `${INDEX}/export`, "/stats", "/jobs"])),
    "an image": () => form(`${INDEX}/image`, { image_file: unique(next(images)) }),
    "a video": () => form(`${INDEX}/video`, { video_file: unique(next(films)) }),
    "a transcript": () =>
      form(`${INDEX}/video`, {
        video_file: unique(films[0]!),
        transcript: next(openings()) + text(MIB / 2),
      }),
    "an archive": () => ({
      method: "POST",
      path: `${INDEX}/import-archive`,
      headers: { "content-type": "application/x-ndjson" },
      body: `${JSON.stringify({ kind: "asset", record: { a: text(MIB) } })}\n`.repeat(3),
    }),
    "every operation": () => {
      const { method, path, headers, body } = next(fuzzed);
      return {
        method,
        path,
        headers,
        ...(body !== null && { body: body as NonNullable<RequestInit["body"]> }),
      };
    },
  };

  function openings(): string[] {
    const cue = "00:00:01,000 --> 00:00:02,000 ";
    return [
      ...["<!---->", "<!-->", "{}{}", "[00:01.00]", "\n", "a:b"].map((one) => one.repeat(24)),
      `<tt xmlns="http://www.w3.org/ns/ttml">`,
      `1\n${cue}${"a:b".repeat(18)} c\n\n`,
      `[Events]\nFormat: ${",".repeat(2000)}\n`,
      JSON.stringify(Array.from({ length: 1000 }, (_, at) => ({ text: `x${at}` }))),
    ];
  }
}

function deepFilter(): object {
  let filter: object = { a: { $gte: 1 } };
  for (let depth = 0; depth < 6; depth++) filter = { $or: [filter, { b: depth }] };
  return filter;
}

const get = (path: string): Attack => ({ method: "GET", path });

const json = (path: string, body: object): Attack => ({
  method: "POST",
  path,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

function form(path: string, fields: Record<string, Blob | string>): Attack {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  return { method: "POST", path, body };
}

/** Appends bytes that players skip: equal files would be one asset. */
function unique(file: Blob): Blob {
  return new Blob([file, crypto.getRandomValues(new Uint8Array(16))], { type: file.type });
}

/** Makes images whose pixels, not bytes, are many, and one that is cut off. */
async function makeImages(): Promise<Blob[]> {
  const blank = sharp({
    create: { width: 6000, height: 4000, channels: 3, background: "#345" },
  });
  const [png, jpeg, webp] = await Promise.all([
    blank.clone().png().toBuffer(),
    blank.clone().jpeg().toBuffer(),
    blank.clone().webp().toBuffer(),
  ]);
  return [png, jpeg, webp, png.subarray(0, png.length / 2)].map(
    (bytes) => new Blob([new Uint8Array(bytes)]),
  );
}

/** Makes a video, one that is cut off, and ones with many boxes and many promised samples. */
function makeFilms(clip: Buffer): Blob[] {
  const boxes = Buffer.alloc(2 * MIB);
  for (let at = 0; at < boxes.length; at += 8) {
    boxes.writeUInt32BE(8, at);
    boxes.write("free", at + 4);
  }
  const promised = Buffer.from(clip);
  const sizes = promised.indexOf("stsz");
  if (sizes > 0) promised.writeUInt32BE(50_000_000, sizes + 12);
  const files = [clip, clip.subarray(0, clip.length / 2), Buffer.concat([clip, boxes]), promised];
  return files.map((bytes) => new Blob([new Uint8Array(bytes)]));
}
