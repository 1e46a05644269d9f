import { expect, it } from "vitest";
import { failureOf } from "../../../src/errors.ts";
import { MatroskaCounts } from "../../../src/media/container/matroska.ts";
import { makeBox } from "../../../src/media/container/mp4-boxes.ts";
import { readTimeline, requireComplete } from "../../../src/media/container/timeline.ts";
import { readImageFacts } from "../../../src/media/exif/capture-facts.ts";
import { imageOfBytes } from "../../../src/media/pixels/decode-image.ts";
import {
  cluster,
  CountedFile,
  cuePoint,
  element,
  makeEdits,
  makeFragment,
  makeHeif,
  makeMatroska,
  makeMp4,
  makeWav,
  nested,
  repeat,
  withBoxes,
} from "../../support/hostile-media.ts";

const MILLION = 1_000_000;
const FREE = makeBox("free");
const MVEX = makeBox("mvex", makeBox("trex", [0, 1, 1, 40, 1, 0]));
/** A block of track 1 at 0. */
const block = (flags: number, ...data: number[]) =>
  element("a3", Buffer.from([0x81, 0, 0, flags, ...data]));
const LACED = block(0x84, 255, ...Array<number>(256).fill(1));
const text = (characters: string) => Buffer.from(characters, "latin1");
const sizeLe = (size: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(size);
  return bytes;
};
/** Tables where the container library finds them, and the reader doesn't look. */
const hiddenTables = () =>
  makeBox("stbl", makeBox("stts", [0, 1, 4000 * MILLION, 1]), makeBox("ctts", [0, 1, 1, 1]));

/** Files, what the error names, and the most times that the reader may read. */
const REFUSED: [string, string, number, () => Uint8Array][] = [
  [
    "50 million samples of a byte in 100 kB",
    "samples in a track",
    20,
    () => makeMp4({ sampleCount: 50 * MILLION, sampleBytes: 1, payload: Buffer.alloc(100_000) }),
  ],
  [
    "40 million samples of a byte in 100 kB",
    "table stsz",
    20,
    () => makeMp4({ sampleCount: 40 * MILLION, sampleBytes: 1, payload: Buffer.alloc(100_000) }),
  ],
  [
    "samples of 2 GB each",
    "table stsz",
    20,
    () => makeMp4({ sampleCount: 1000, sampleBytes: 2 ** 31 }),
  ],
  [
    "a list of sizes without sizes",
    "table stsz",
    20,
    () => makeMp4({ sampleCount: 20 * MILLION, sizes: [1] }),
  ],
  [
    "a list of offsets without offsets",
    "table stco",
    20,
    () => makeMp4({ offsets: [30 * MILLION, 1] }),
  ],
  [
    "a list of runs without runs",
    "table stsc",
    20,
    () => makeMp4({ runs: [30 * MILLION, 1, 1, 1] }),
  ],
  [
    "a list of orders without orders",
    "table ctts",
    20,
    () => makeMp4({ reordered: [30 * MILLION, 1, 1] }),
  ],
  [
    "3 million reordered samples at one time",
    "samples between two keyframes",
    40,
    () =>
      makeMp4({
        sampleCount: 3 * MILLION,
        sampleBytes: 1,
        delta: 0,
        reordered: [1, 3 * MILLION, 0],
        payload: Buffer.alloc(3 * MILLION, 1),
      }),
  ],
  [
    "tables of 4 billion samples in a sample description",
    "samples in its damaged index",
    40,
    () => makeMp4({ inEntry: hiddenTables() }),
  ],
  [
    "two sets of tables, one of 4 billion samples",
    "samples in its damaged index",
    40,
    () => makeMp4({ inTrack: makeBox("mdia", makeBox("minf", hiddenTables())) }),
  ],
  [
    "4 billion samples in a movie without times of chunks",
    "samples in its damaged index",
    40,
    () => makeMp4({ sampleCount: 0, inMovie: makeBox("trak", makeBox("mdia", hiddenTables())) }),
  ],
  ["a million edits", "edits", 20, () => makeMp4({ edits: makeEdits(MILLION) })],
  ["a million boxes behind its data", "boxes", 1100, () => withBoxes(makeMp4(), MILLION)],
  [
    "a million boxes before its index",
    "boxes",
    1100,
    () => makeMp4({ before: repeat(FREE, MILLION) }),
  ],
  [
    "a million boxes in its index",
    "boxes in its index",
    40,
    () => makeMp4({ inMovie: repeat(FREE, MILLION) }),
  ],
  [
    "a million boxes in boxes of its index",
    "boxes in its index",
    40,
    () => makeMp4({ inMovie: repeat(makeBox("edts", repeat(FREE, 9000)), 111) }),
  ],
  ["boxes in boxes", "boxes in boxes", 40, () => makeMp4({ inMovie: nested("edts", 9000) })],
  [
    "a box of 20 MB in its track",
    "bytes in its index besides samples",
    40,
    () => makeMp4({ inTrack: makeBox("uuid", Buffer.alloc(20 * MILLION)) }),
  ],
  [
    "an index of 20 MB without samples",
    "bytes in its index besides samples",
    40,
    () => makeMp4({ sampleCount: 0, inMovie: makeBox("udta", Buffer.alloc(20 * MILLION)) }),
  ],
  [
    "a fragment of 4 billion samples in 100 bytes",
    "samples in a fragment",
    60,
    () => Buffer.concat([makeMp4({ sampleCount: 0, inMovie: MVEX }), makeFragment(4000 * MILLION)]),
  ],
  [
    "20,000 cue points at one time",
    "cue points at one time",
    100,
    () => makeMatroska(element("1c53bb6b", repeat(cuePoint(1), 20_000))),
  ],
  [
    "510,000 cue points",
    "cue points",
    100,
    () => {
      const points = Buffer.from(repeat(cuePoint(0), 510_000));
      const [bytes, at] = [cuePoint(0).length, cuePoint(7).indexOf(7) - 3];
      for (let i = 0; i < 510_000; i++) points.writeUInt32BE(i, i * bytes + at);
      return makeMatroska(element("1c53bb6b", points));
    },
  ],
  [
    "a seek head of 100,000 entries",
    "entries in its seek heads",
    100,
    () => makeMatroska(element("114d9b74", repeat(element("4dbb"), 100_000))),
  ],
  [
    "100,000 tracks",
    "tracks",
    100,
    () => makeMatroska(element("1654ae6b", repeat(element("ae"), 100_000))),
  ],
  [
    "a million tags",
    "tags",
    100,
    () => makeMatroska(element("1254c367", element("7373", repeat(element("67c8"), MILLION)))),
  ],
  [
    "a cluster of a million blocks",
    "elements in a cluster",
    100,
    () => makeMatroska(cluster(repeat(block(0x80, 1), MILLION))),
  ],
  [
    "a million blocks in groups behind a damaged one",
    "elements in a cluster",
    100,
    () =>
      makeMatroska(
        cluster(element("a0", Buffer.from([0])), repeat(element("a0", block(0x80, 1)), MILLION)),
      ),
  ],
  [
    "a cluster of 256,000 laced frames",
    "laced frames in a cluster",
    100,
    () => makeMatroska(cluster(repeat(LACED, 1000))),
  ],
  [
    "a million elements before its first cluster",
    "headers before its first frame",
    100,
    () => makeMatroska(repeat(element("ec"), MILLION)),
  ],
  [
    "a million chunks before its samples",
    "headers before its first frame",
    100,
    () => makeWav(repeat(Buffer.concat([text("junk"), sizeLe(0)]), MILLION)),
  ],
  [
    "a list of 70 MB before its samples",
    "bytes in one piece",
    100,
    () => makeWav(Buffer.concat([text("LIST"), sizeLe(70 * MILLION), Buffer.alloc(70 * MILLION)])),
  ],
];

it.each(REFUSED)("a file with %s is refused by name: %s", async (_, what, maxReads, make) => {
  const file = new CountedFile(make());
  const open = async () => {
    await readTimeline(file);
    await requireComplete(file);
  };
  const failure = await open().then(() => null, failureOf);
  expect(failure).toMatchObject({ code: "too_large" });
  expect(failure!.message).toContain(what);
  expect(file.reads).toBeLessThanOrEqual(maxReads);
});

it("other work runs while a file of 100,000 empty clusters is read", async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await readTimeline(new CountedFile(makeMatroska(repeat(cluster(), 100_000)))).catch(failureOf);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(10);
});

it("a cue point in cue points that end before it is counted once", () => {
  const cues = 0x1c53bb6b;
  const levels = Array.from({ length: 40 }).reduce<Buffer>(
    (inner) => {
      // The outer one ends with the header of the inner one, which has all that follows.
      const [outer, header] = [element("bb", Buffer.alloc(9)), element("bb", inner).subarray(0, 9)];
      return Buffer.concat([outer.subarray(0, 9), header, inner]);
    },
    Buffer.from(cuePoint(1)),
  );
  expect(() => new MatroskaCounts().add(cues, levels)).not.toThrow();
});

it("a HEIF whose items have 65,535 extents of no bytes is read without them", async () => {
  expect(await readImageFacts(imageOfBytes(makeHeif(60_000)), "image/heic")).toEqual({});
});

it.each([
  [
    "bytes between segments",
    "image/jpeg",
    Buffer.concat([text("\xff\xd8"), Buffer.alloc(MILLION)]),
  ],
  [
    "chunks",
    "image/png",
    Buffer.concat([text("\x89PNG\r\n\x1a\n"), repeat(Buffer.alloc(12), MILLION)]),
  ],
  ["boxes", "image/jxl", repeat(FREE, MILLION)],
])("an image of a million %s is read in one read", async (_, type, bytes) => {
  const file = new CountedFile(bytes);
  expect(await readImageFacts(file, type)).toEqual({});
  expect(file.reads).toBe(1);
});

it("a file that is whole isn't refused", async () => {
  const { durationSeconds } = await readTimeline(new CountedFile(makeMp4()));
  expect(durationSeconds).toBe(1);
});
