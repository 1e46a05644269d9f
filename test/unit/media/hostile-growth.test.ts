import { expect, it } from "vitest";
import { readParts } from "../../../src/http/multipart.ts";
import { makeBox } from "../../../src/media/container/mp4-boxes.ts";
import { requireUnencrypted } from "../../../src/media/container/open-container.ts";
import { readTimeline } from "../../../src/media/container/timeline.ts";
import { readImageFacts } from "../../../src/media/exif/capture-facts.ts";
import { readMovieFacts } from "../../../src/media/exif/movie-facts.ts";
import { findRawPreview } from "../../../src/media/exif/raw-preview.ts";
import { imageOfBytes } from "../../../src/media/pixels/decode-image.ts";
import { readImageSize } from "../../../src/media/pixels/image-size.ts";
import {
  cluster,
  cuePoint,
  element,
  makeApng,
  makeEdits,
  makeFragment,
  makeHeif,
  makeMatroska,
  makeMp4,
  makeWav,
  nested,
  pngChunk,
  repeat,
} from "../../support/hostile-media.ts";

/** Makes a file that has so many bytes, about. */
type Shape = (bytes: number) => Uint8Array;

const text = (characters: string) => Buffer.from(characters, "latin1");
const hex = (digits: string) => Buffer.from(digits, "hex");
/** Repeats a part until it has so many bytes. */
const fill = (part: Uint8Array, bytes: number) =>
  repeat(part, Math.max(1, Math.floor(bytes / part.length)));
const between = (
  head: Uint8Array,
  part: Uint8Array,
  tail: Uint8Array = new Uint8Array(),
): Shape => {
  return (bytes) => Buffer.concat([head, fill(part, bytes), tail]);
};

const FREE = makeBox("free");
const MVEX = makeBox("mvex", makeBox("trex", [0, 1, 1, 40, 1, 0]));
const FRAGMENTED = makeMp4({ sampleCount: 0, inMovie: MVEX });
const NOTHING = new Uint8Array();
const MPEG = Buffer.concat([hex("fffb9000"), Buffer.alloc(413)]);
const FLAC = Buffer.concat([
  text("fLaC"),
  hex("80000022100010000000000000000ac442f0"),
  Buffer.alloc(20),
]);
const TS_NULL = Buffer.concat([hex("471fff10"), Buffer.alloc(184, 255)]);
const TS_TABLE = Buffer.concat([
  hex("474000100000b00d0001c100000001e1002ab104b2"),
  Buffer.alloc(167, 255),
]);
const id3 = (body: Uint8Array) => {
  const size = [21, 14, 7, 0].map((shift) => (body.length >> shift) & 127);
  return Buffer.concat([text("ID3\x04\0\0"), Buffer.from(size), body]);
};

/** Containers: many empty elements, counts without bytes, chains, what a decoder searches. */
const CONTAINERS: [string, Shape][] = [
  ["MP4 with boxes behind its data", (bytes) => makeMp4({ after: fill(FREE, bytes) })],
  ["MP4 with boxes before its index", (bytes) => makeMp4({ before: fill(FREE, bytes) })],
  ["MP4 with boxes in its index", (bytes) => makeMp4({ inMovie: fill(FREE, bytes) })],
  ["MP4 with boxes in its track", (bytes) => makeMp4({ inTrack: fill(FREE, bytes) })],
  [
    "MP4 with facts",
    (bytes) => makeMp4({ inMovie: makeBox("udta", fill(text("\0\0\0\x08\xa9xyz"), bytes)) }),
  ],
  ["MP4 with nested boxes", (bytes) => makeMp4({ inMovie: nested("edts", bytes / 8) })],
  ["MP4 with edits", (bytes) => makeMp4({ edits: makeEdits(bytes / 12) })],
  ["MP4 with tracks", (bytes) => makeMp4({ inMovie: fill(makeBox("trak"), bytes) })],
  [
    "MP4 with samples of zeros",
    (bytes) =>
      makeMp4({ sampleCount: bytes, sampleBytes: 1, delta: 1, payload: Buffer.alloc(bytes) }),
  ],
  [
    "MP4 with listed sizes",
    (bytes) =>
      makeMp4({
        sampleCount: bytes / 4,
        sizes: Array<number>(bytes / 4).fill(1),
        delta: 1,
        payload: Buffer.alloc(bytes / 4, 1),
      }),
  ],
  [
    "MP4 with chunks at one place",
    (bytes) =>
      makeMp4({
        sampleCount: bytes / 4,
        sampleBytes: 1,
        delta: 1,
        runs: [1, 1, 1, 1],
        offsets: [bytes / 4, ...Array<number>(bytes / 4).fill(600)],
      }),
  ],
  [
    "MP4 with promised samples",
    (bytes) => makeMp4({ sampleCount: 100 * bytes, sampleBytes: 1, payload: Buffer.alloc(bytes) }),
  ],
  ["MP4 with fragments", between(FRAGMENTED, makeFragment(1))],
  ["MP4 with promised samples in fragments", between(FRAGMENTED, makeFragment(1000))],
  ["Matroska with empty elements", (bytes) => makeMatroska(fill(element("ec"), bytes))],
  ["Matroska with empty clusters", (bytes) => makeMatroska(fill(cluster(), bytes))],
  [
    "Matroska with blocks",
    (bytes) => makeMatroska(cluster(fill(element("a3", hex("8100008001")), bytes))),
  ],
  [
    "Matroska with cue points",
    (bytes) => makeMatroska(element("1c53bb6b", fill(cuePoint(1), bytes))),
  ],
  [
    "Matroska with tags",
    (bytes) => makeMatroska(element("1254c367", fill(element("7373", element("67c8")), bytes))),
  ],
  ["Matroska with segments", between(hex("1a45dfa380"), element("18538067"))],
  ["Matroska of unknown sizes", between(hex("1a45dfa380"), hex("18538067ff1f43b675ff"))],
  ["AVI of lists", between(text("RIFF\0\0\0\0AVI "), text("LIST\x04\0\0\0INFO"))],
  ["AVI of times", between(text("RIFF\0\0\0\0AVI "), text("IDIT\x04\0\0\0 Sat"))],
  ["WAV with chunks", (bytes) => makeWav(fill(text("junk\0\0\0\0"), bytes))],
  ["MPEG-TS of empty packets", between(NOTHING, TS_NULL)],
  ["MPEG-TS of tables", between(NOTHING, TS_TABLE)],
  ["MP3 of headers", between(NOTHING, hex("fffb9000"))],
  ["MP3 of tags", between(NOTHING, id3(NOTHING), fill(MPEG, 4000))],
  [
    "MP3 with empty frames of its tag",
    (bytes) => Buffer.concat([id3(fill(text("TXXX\0\0\0\0\0\0"), bytes)), fill(MPEG, 4000)]),
  ],
  ["MP3 without a second frame", (bytes) => Buffer.concat([MPEG, Buffer.alloc(bytes, 255)])],
  ["AAC of headers", between(NOTHING, hex("fff15080011ffc00"))],
  ["FLAC with blocks", between(FLAC, hex("01000000"))],
  ["FLAC of headers", between(FLAC, hex("fff8c9a8"))],
  ["Ogg of empty pages", between(NOTHING, Buffer.concat([text("OggS\0\x02"), Buffer.alloc(21)]))],
];

const JPEG = hex("ffd8");
const SCAN = hex("ffda0008010100003f00ffd9");
const GIF = text("GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff");
const GIF_FRAME = hex("2c0000000001000100000202440100");
const webp = (chunks: Uint8Array) => {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(chunks.length + 22);
  const canvas = Buffer.concat([text("WEBPVP8X\x0a\0\0\0\x02"), hex("0000000f00000f0000")]);
  return Buffer.concat([text("RIFF"), size, canvas, chunks]);
};
/** A TIFF whose entries and next directory point back to its first one. */
const tiff: Shape = (bytes) => {
  const count = Math.min(Math.floor(bytes / 12), 65_535);
  const tags = [0x8769, 0x8825, 0x14a, 0x111, 0x201, 0x202];
  const file = Buffer.alloc(Math.max(bytes, 14 + 12 * count));
  file.write("II*\0\x08", "latin1");
  file.writeUInt16LE(count, 8);
  for (let i = 0; i < count; i++) {
    const at = 10 + 12 * i;
    file.writeUInt16LE(tags[i % tags.length]!, at);
    file.writeUInt16LE(4, at + 2);
    file.writeUInt32LE(0xffff_ffff, at + 4);
    file.writeUInt32LE(8, at + 8);
  }
  file.writeUInt32LE(8, 10 + 12 * count);
  return file;
};
const exif: Shape = (bytes) => {
  const block = Buffer.concat([text("Exif\0\0"), tiff(Math.min(bytes, 65_000))]).subarray(
    0,
    65_000,
  );
  const size = Buffer.alloc(2);
  size.writeUInt16BE(block.length + 2);
  return Buffer.concat([JPEG, fill(Buffer.concat([hex("ffe1"), size, block]), bytes), SCAN]);
};

const segment = (marker: number, content: Uint8Array) =>
  Buffer.concat([
    hex("ff"),
    Buffer.from([marker, (content.length + 2) >> 8, content.length + 2]),
    content,
  ]);
const XMP = Buffer.concat([text("http://ns.adobe.com/xap/1.0/\0"), fill(text("xmp:a='"), 60_000)]);
const RESOURCES = Buffer.concat([
  text("Photoshop 3.0\0"),
  fill(text("8BIM\x04\x09\0\0\0\0\0\0"), 60_000),
]);
const photoshop: Shape = (bytes) => {
  const resources = fill(text("8BIM\x04\x09\0\0\0\0\0\0"), bytes);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(resources.length);
  return Buffer.concat([text("8BPS"), Buffer.alloc(26), size, resources]);
};
/** A TIFF of one tag. */
const tiffOf = (tag: number, type: number, content: Uint8Array) => {
  const head = Buffer.alloc(26);
  head.write("II*\0\x08", "latin1");
  head.writeUInt16LE(1, 8);
  head.writeUInt16LE(tag, 10);
  head.writeUInt16LE(type, 12);
  head.writeUInt32LE(content.length, 14);
  head.writeUInt32LE(26, 18);
  return Buffer.concat([head, content]);
};

/** Images, with the type that their bytes have. */
const IMAGES: [string, string, Shape][] = [
  ["JPEG with empty segments", "image/jpeg", between(JPEG, hex("ffe50002"), SCAN)],
  ["JPEG with segments of no length", "image/jpeg", between(JPEG, hex("ffe50000"), SCAN)],
  ["JPEG with fill bytes", "image/jpeg", between(JPEG, hex("ff"), SCAN)],
  ["JPEG with EXIF", "image/jpeg", exif],
  ["JPEG with XMP", "image/jpeg", between(JPEG, segment(0xe1, XMP), SCAN)],
  ["JPEG with image resources", "image/jpeg", between(JPEG, segment(0xed, RESOURCES), SCAN)],
  ["JPEG with stray bytes", "image/jpeg", between(JPEG, hex("00"), SCAN)],
  ["Photoshop of image resources", "image/vnd.adobe.photoshop", photoshop],
  ["TIFF with XMP", "image/tiff", (bytes) => tiffOf(700, 1, fill(text("exif:a  "), bytes))],
  [
    "TIFF with IPTC",
    "image/tiff",
    (bytes) => tiffOf(33723, 7, fill(text("\x1c\x02\x37\0\0"), bytes)),
  ],
  ["PNG with empty chunks", "image/png", (bytes) => makeApng(fill(pngChunk("teXt"), bytes))],
  ["PNG with empty pixels", "image/png", (bytes) => makeApng(fill(pngChunk("IDAT"), bytes))],
  ["PNG of frames", "image/png", (bytes) => makeApng(NOTHING, Math.ceil(bytes / 100))],
  ["GIF with comments", "image/gif", between(GIF, hex("21fe00"), GIF_FRAME)],
  ["GIF of frames", "image/gif", between(GIF, GIF_FRAME)],
  [
    "GIF of a frame of small blocks",
    "image/gif",
    between(Buffer.concat([GIF, GIF_FRAME, GIF_FRAME.subarray(0, 11)]), hex("0100")),
  ],
  ["WebP with empty chunks", "image/webp", (bytes) => webp(fill(text("XXXX\0\0\0\0"), bytes))],
  ["WebP of empty frames", "image/webp", (bytes) => webp(fill(text("ANMF\0\0\0\0"), bytes))],
  ["HEIF of items", "image/heic", (bytes) => makeHeif(Math.min(65_535, Math.ceil(bytes / 6)))],
  ["HEIF with boxes", "image/heic", between(makeBox("ftyp", text("heic\0\0\0\0mif1heic")), FREE)],
  [
    "JPEG XL with boxes",
    "image/jxl",
    between(
      Buffer.concat([makeBox("JXL ", hex("0d0a870a")), makeBox("ftyp", text("jxl \0\0\0\0jxl "))]),
      FREE,
    ),
  ],
  ["TIFF with pointers back", "image/tiff", tiff],
  ["raw with pointers back", "image/x-canon-cr2", tiff],
];

const BOUNDARY = "--------x";
const part = (head: string) => `${BOUNDARY}\r\n${head}\r\n\r\n\r\n`;
/** Bodies of multipart requests. */
const FORMS: [string, Shape][] = [
  ["parts without a name", between(NOTHING, text(part("a: b")))],
  ["fields", between(NOTHING, text(part('Content-Disposition: form-data; name="a"')))],
  ["header lines", between(text(`${BOUNDARY}\r\n`), text("a: b\r\n"))],
  [
    "a header of parameters",
    between(text(`${BOUNDARY}\r\nContent-Disposition: form-data`), text("; a=b")),
  ],
  [
    "a header of quotation marks",
    between(text(`${BOUNDARY}\r\nContent-Disposition: form-data; name="`), text('\\"')),
  ],
  [
    "beginnings of its boundary",
    between(
      text(part('Content-Disposition: form-data; name="a"; filename="b"')),
      text("\r\n--------"),
    ),
  ],
  [
    "line breaks",
    between(text(part('Content-Disposition: form-data; name="a"; filename="b"')), text("\r\n")),
  ],
  ["a preamble of hyphens", between(NOTHING, text("-"))],
];

/** Bytes of the shortest file, and how many times as long the others are. */
const [BYTES, TIMES] = [64 * 1024, [1, 2, 4, 8]];
/** Most that a file of twice the size may cost, as a multiple. */
const MAX_RATIO = 2.5;
/** Processor time below which a difference is noise, in ms. */
const NOISE_MS = 16;
const MAX_ROUNDS = 15;

/** Processor time that is measured at once, in ms: the system counts it in ticks of 4 ms. */
const MEASURED_MS = 80;
/** Most runs that are measured at once. */
const MAX_RUNS = 10;

/** Returns the processor time of one run in ms, whether it resolves or throws. */
async function timeOf(run: (bytes: Uint8Array) => Promise<unknown>, bytes: Uint8Array) {
  const start = process.threadCpuUsage();
  for (let runs = 1; ; runs++) {
    await run(bytes).catch(() => undefined);
    const { user, system } = process.threadCpuUsage(start);
    const ms = (user + system) / 1000;
    if (ms >= MEASURED_MS || runs === MAX_RUNS) return ms / runs;
  }
}

/**
 * Returns by how much the time grows at each doubling: the median of rounds, each of which measures
 * both sizes in turn, so that a machine that is slow for a while slows both. Rounds are added while
 * it seems to grow too fast.
 */
async function growthOf(run: (bytes: Uint8Array) => Promise<unknown>, shape: Shape) {
  const files = TIMES.map((times) => shape(times * BYTES));
  const growth: number[] = [];
  for (let step = 1; step < files.length; step++) {
    const ratios: number[] = [];
    do {
      const before = Math.max(await timeOf(run, files[step - 1]!), NOISE_MS);
      ratios.push((await timeOf(run, files[step]!)) / before);
    } while (ratios.length < MAX_ROUNDS && !(medianOf(ratios) <= MAX_RATIO));
    growth.push(medianOf(ratios));
    if (medianOf(ratios) > MAX_RATIO) break;
  }
  return growth;
}

const medianOf = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

const isLinear = (ratios: number[]) => ratios.every((ratio) => ratio <= MAX_RATIO);

it.each(CONTAINERS)("a file in proportion to its size is read: %s", async (_, shape) => {
  const read = async (bytes: Uint8Array) => {
    const file = imageOfBytes(bytes);
    for (const reader of [requireUnencrypted, readTimeline, readMovieFacts]) {
      await reader(file).catch(() => undefined);
    }
  };
  expect(await growthOf(read, shape)).toSatisfy(isLinear);
});

it.each(IMAGES)("an image in proportion to its size is read: %s", async (_, type, shape) => {
  const read = async (bytes: Uint8Array) => {
    const file = imageOfBytes(bytes);
    readImageSize(bytes);
    await readImageFacts(file, type);
    await findRawPreview(file);
  };
  expect(await growthOf(read, shape)).toSatisfy(isLinear);
});

it.each(FORMS)("a form in proportion to its size is read: %s", async (_, shape) => {
  const read = async (body: Uint8Array) => {
    const headers = { "content-type": `multipart/form-data; boundary=${BOUNDARY.slice(2)}` };
    const request = new Request("https://a.example/", {
      method: "POST",
      headers,
      body: Uint8Array.from(body),
    });
    await readParts(request, async ({ chunks }) => {
      for await (const chunk of chunks) void chunk;
    });
  };
  expect(await growthOf(read, shape)).toSatisfy(isLinear);
});
