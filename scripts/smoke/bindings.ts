import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { CONTACT_SHEET } from "../../src/parameters.ts";
import type {
  BindingError,
  BindingRecord,
  FrameRecord,
  Observed,
  ProbeResults,
} from "./binding-record.ts";
import {
  CODEC_RAMP,
  LONG_RAMP,
  longRampStep,
  RAMP,
  rampSeconds,
  type SmokeFiles,
} from "./files.ts";

/** Has the probe make a call with a file and parameters. */
export type ProbeCall = <Name extends keyof ProbeResults>(
  name: Name,
  parameters?: Record<string, string | number>,
  file?: Uint8Array<ArrayBuffer>,
) => Promise<Observed<ProbeResults[Name]>>;

/** Images that are sent, in this order. */
export const [PAGE_IMAGE, DAMAGED_IMAGE, WIDE_IMAGE] = [0, 1, 2] as const;
/** FRAMES refuses an option: a sheet of too many tiles, if it had fewer before. */
const REFUSED_OPTION = "9401";
/** Vectorize shows a vector after up to two minutes. */
const VECTOR_MS = 5 * 60_000;
const POLL_MS = 500;
/** Sizes that D1 is documented to take, and one that it isn't: 101 parameters. */
const D1_SIZES = [
  { limit: "parameters", size: 100 },
  { limit: "parameters", size: 101 },
  { limit: "value_bytes", size: 2_000_000 },
  { limit: "statement_bytes", size: 100_000 },
];

/** Observes the bindings through a probe. Leaves nothing behind. */
export async function observeBindings(ask: ProbeCall, files: SmokeFiles): Promise<BindingRecord> {
  const read = async (path: string) => new Uint8Array(await readFile(path));
  const ramp = await read(files.ramp);
  const images = await Promise.all([files.page, files.damaged, files.wide].map(read));
  const codecs: BindingRecord["codecs"] = [];
  for (const path of files.codecs) {
    const { value, error } = await ask("codec", { at: CODEC_RAMP.frameSeconds }, await read(path));
    const unread = { isListed: false, frame: { value: null, error } };
    codecs.push({ codec: basename(path, ".mp4"), ...(value ?? unread) });
  }
  const database: BindingRecord["database"] = [];
  for (const one of D1_SIZES) {
    database.push({ ...one, error: (await ask("database", one)).error });
  }
  const embed = async (input: "text" | "image") =>
    Object.assign(await ask("embedding", { input }, images[PAGE_IMAGE]), { input });
  return {
    sheet: await ask("sheet", { count: RAMP.tiles, seconds: RAMP.tiles }, ramp),
    fullSheets: await observeFullSheets(ask, await read(files.longRamp)),
    frame: await ask("frame", { at: RAMP.frameSeconds }, ramp),
    decoder: await ask("decoder", { at: RAMP.frameSeconds }, ramp),
    codecs,
    images: await Promise.all(images.map((image) => ask("image", {}, image))),
    embeddings: [await embed("text"), await embed("image")],
    vector: await observeVector(ask),
    database,
  };
}

/** Makes a sheet as the detection of shots does, and while it is refused, one of half as many. */
async function observeFullSheets(ask: ProbeCall, video: Uint8Array<ArrayBuffer>) {
  const sheets: BindingRecord["fullSheets"] = [];
  for (let tiles: number = CONTACT_SHEET.maxFrames; ; tiles = Math.floor(tiles / 2)) {
    const seconds = tiles * LONG_RAMP.stepSeconds;
    const sheet = await ask("sheet", { count: tiles, seconds }, video);
    sheets.push({ tiles, ...sheet });
    if (sheet.error?.code !== REFUSED_OPTION || tiles <= RAMP.tiles) return sheets;
  }
}

/** Writes a vector, queries until it is found or won't be, and deletes it. */
async function observeVector(ask: ProbeCall): Promise<BindingRecord["vector"]> {
  const id = `smoke_${randomUUID()}`;
  const written = await ask("vector", { id, do: "write" });
  if (written.error) return written;
  let found = written;
  for (const start = Date.now(); Date.now() - start < VECTOR_MS; await wait(POLL_MS)) {
    found = await ask("vector", { id, do: "query" });
    if (found.error || found.value?.score !== null) break;
  }
  const deleted = await ask("vector", { id, do: "delete" });
  return deleted.error ? deleted : found;
}

/** Returns the seconds of the ramp that the tiles of its contact sheet show, in their order. */
export function tileSeconds({ sheet }: BindingRecord): number[] {
  return sheet.value?.tileLumas.map(rampSeconds) ?? [];
}

/** Returns the tiles of the largest contact sheet, and how many of them are the right ones. */
export function countTiles({ fullSheets }: BindingRecord): { made: number; right: number } {
  const lumas = fullSheets.at(-1)?.value?.tileLumas ?? [];
  const right = lumas.filter((luma, i) => longRampStep(luma) === i % RAMP.steps);
  return { made: lumas.length, right: right.length };
}

/** Formats why a binding refused a call. */
export function refusalOf(error: BindingError | null | undefined): string {
  return error ? `refused with ${error.code ?? "no code"} (${error.meaning})` : "nothing";
}

/** Returns whether a frame of the ramp is the one that was asked for. */
export function checkFrame({ value, error }: Observed<FrameRecord | null>) {
  if (!value) return { holds: false, seen: refusalOf(error) };
  const at = rampSeconds(value.luma);
  const holds = at <= RAMP.frameSeconds && RAMP.frameSeconds < at + RAMP.stepSeconds;
  return { holds, seen: `for ${RAMP.frameSeconds} s, one that is there from ${at} s on` };
}

/** Formats the tiles of the contact sheet. */
export function tilesOf(bindings: BindingRecord): string {
  const { value, error } = bindings.sheet;
  if (!value) return refusalOf(error);
  const { width, height, columns, sizeOf } = value;
  const seconds = tileSeconds(bindings).join(", ");
  return `${width} × ${height}, ${columns} in a row, sized by ${sizeOf}, from ${seconds} s`;
}

/** Lists the codecs that FRAMES decoded into the right frame. */
export function decodedCodecs({ codecs }: BindingRecord): string[] {
  return codecs.flatMap(({ codec, frame: { value } }) => {
    const at = value && rampSeconds(value.luma);
    const isRight =
      at !== null &&
      at <= CODEC_RAMP.frameSeconds &&
      CODEC_RAMP.frameSeconds < at + RAMP.stepSeconds;
    return isRight ? [codec] : [];
  });
}
