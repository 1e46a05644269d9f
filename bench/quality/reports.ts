import { access } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import type { Sightline } from "sightline";
import { openFile } from "sightline/node";
import { poll } from "../../tools/poll.ts";
import { withService } from "../../tools/service.ts";
import type { Suite } from "../../tools/suite.ts";

type Colour = [red: number, green: number, blue: number];
type Asset = Awaited<ReturnType<Index["videos"]["get"]>> & { taken_at?: string | null };
type Index = ReturnType<Sightline["index"]>;

/** What a file of a public bug report shall become. What is absent isn't checked. */
interface ReportedFile {
  file: string;
  metadata?: Record<string, unknown>;
  size?: [width: number, height: number];
  seconds?: number;
  takenAt?: string;
  /** Colours of the quarters of the thumbnail, from the top left; within `tolerance` levels. */
  quarters?: Colour[];
  tolerance?: number;
  /** Filters that find the asset, and others that don't. */
  finds?: Record<string, unknown>[];
  misses?: Record<string, unknown>[];
  /** Words of a search that find the asset. */
  words?: string[];
  /** What its edit list has. */
  editList?: RegExp;
}

const BASE: Colour[] = [
  [220, 30, 30],
  [30, 160, 60],
  [40, 60, 200],
  [230, 200, 40],
];
const WIDE: Colour[] = [
  [241, 0, 0],
  [0, 164, 35],
];
const EVENING = "2024-05-31T22:30:00Z";
const NEXT_DAY = "2024-06-01T00:30:00Z";
const day = (filter: unknown) => ({ "technical.taken_at": filter });
const DAY = "2024-05-31";

const FILES: ReportedFile[] = [
  ...["anamorphic.mpg", "anamorphic-h264.ts", "anamorphic-vui.mp4", "anamorphic.flv"].map(
    (file): ReportedFile => ({ file, size: [256, 144] }),
  ),
  { file: "chained.ogg", seconds: 9.4 },
  { file: "chained.opus", seconds: 9.15 },
  { file: "chained-video.ogg", seconds: 4.5 },
  { file: "timecode-25.mov", editList: /10:00:00:00 10:00:04:00/ },
  { file: "timecode-2997df.mov", editList: /10:00:00;00 10:00:04;00/ },
  { file: "a1.m4a", editList: /^001 {2}AX {7}A/m },
  { file: "fps240.mp4", editList: /^001 +\w+ +\w+ +C +(?:\d\d:){3}\d\d (?:\d\d:){3}\d\d /m },
  { file: "vfr.mp4", editList: / 00:00:05:\d\d 00:00:12:00 / },
  { file: "hdr-pq.mp4", quarters: BASE, tolerance: 40 },
  { file: "hdr-hlg.avif", quarters: BASE, tolerance: 40 },
  {
    file: "fact-orig.jpg",
    finds: [day(DAY), day({ $lte: DAY }), day({ $gte: DAY, $lte: DAY }), day({ $in: [DAY] })],
    misses: [day({ $gt: DAY }), day({ $ne: DAY })],
  },
  {
    file: "small.png",
    metadata: { people: [{ name: "Ann" }, { name: "Bob" }] },
    finds: [{ "people.name": "Ann" }],
    misses: [{ duration_seconds: { $lt: 60 } }, { duration_seconds: 0 }],
  },
  { file: "fact-offset.jpg", takenAt: EVENING },
  { file: "fact-created.jpg", takenAt: NEXT_DAY },
  { file: "fact-modify.jpg", takenAt: NEXT_DAY },
  { file: "fact-xmpo.jpg", takenAt: EVENING },
  { file: "fact-gpstz.jpg", takenAt: EVENING },
  { file: "fact-offnocolon.jpg", takenAt: EVENING },
  { file: "fact-apple.mov", takenAt: EVENING },
  { file: "fact.mkv", takenAt: "2024-06-01T10:00:00Z" },
  { file: "png-exif-late.png", takenAt: EVENING },
  { file: "heic-exif6.heic", size: [320, 240] },
  { file: "fact-kw.jpg", words: ["zeppelin", "Bodensee", "Xylophone"] },
  { file: "panorama.jpg", size: [13_000, 900] },
  { file: "thumbfirst.tif", size: [160, 120] },
  { file: "icc-p3.jxl", quarters: WIDE, tolerance: 8 },
  { file: "animated.avif" },
  { file: "rf64.wav", seconds: 4.57 },
  { file: "zeros.mp3", seconds: 4.57 },
  { file: "untagged-hd.mp4", quarters: BASE.map(() => BASE[1]!), tolerance: 12 },
];

const CASE_MS = 10 * 60_000;
const MAX_TIME_ERROR = 0.1;
const IMAGE = /\.(?:png|jpe?g|tif|avif|heic|jp2|jxl)$/;

/** Adds a file to an index of its own, and returns how the asset differs from what is right. */
async function check(sightline: Sightline, folder: string, position: number, right: ReportedFile) {
  const name = `report-${position}`;
  await sightline.indices.create({ index_name: name });
  const index = sightline.index(name);
  const file = await openFile(join(folder, right.file));
  const { metadata = {} } = right;
  const collection = IMAGE.test(right.file) ? index.images : index.videos;
  const added = IMAGE.test(right.file)
    ? await index.images.add({ image_file: file, metadata })
    : await index.videos.add({ video_file: file, metadata });
  const asset = await poll(CASE_MS, `${right.file}: its ingest`, async () => {
    const current = (await collection.get(added.asset_id)) as Asset;
    return current.state === "ready" || current.state === "failed" ? current : undefined;
  });
  if (asset.state !== "ready") return [`${asset.error?.code}: ${asset.error?.message}`];
  const differences = compareFacts(asset, right);
  if (right.quarters) differences.push(...(await compareColours(asset, right)));
  for (const [filters, shall] of [
    [right.finds ?? [], 1],
    [right.misses ?? [], 0],
  ] as const) {
    for (const filter of filters) {
      const { total } = await index.aggregate({ filter, group_by: "asset" });
      if (total.count !== shall) differences.push(`${JSON.stringify(filter)} finds ${total.count}`);
    }
  }
  for (const query of right.words ?? []) {
    const { segments } = await index.search({ query });
    const isFound = (segments[0]?.score ?? 0) >= 0.5;
    if (!isFound) differences.push(`"${query}" isn't found`);
  }
  if (right.editList) {
    const list = await index.videos.editList(asset.asset_id);
    if (!right.editList.test(list)) differences.push(list.split("\r\n").slice(3).join(" "));
  }
  return differences;
}

function compareFacts(asset: Asset, { size, seconds, takenAt }: ReportedFile): string[] {
  const { width, height, duration_seconds: duration, taken_at: taken } = asset;
  const differences: string[] = [];
  if (size && (width !== size[0] || height !== size[1])) differences.push(`${width} × ${height}`);
  if (seconds !== undefined && Math.abs((duration ?? 0) - seconds) > MAX_TIME_ERROR) {
    differences.push(`${duration} s`);
  }
  const isThen = takenAt === undefined || Date.parse(taken ?? "") === Date.parse(takenAt);
  if (!isThen) differences.push(`taken at ${taken}`);
  return differences;
}

async function compareColours(asset: Asset, { quarters = [], tolerance = 0 }: ReportedFile) {
  const response = await fetch(asset.thumbnail_url!);
  const { data, info } = await sharp(await response.bytes())
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return quarters.flatMap((colour, quarter) => {
    const x = Math.floor((info.width * (1 + 2 * (quarter % 2))) / 4);
    const y = Math.floor((info.height * (1 + 2 * Math.floor(quarter / 2))) / 4);
    const at = info.channels * (y * info.width + x);
    const seen = [...data.subarray(at, at + 3)];
    const isNear = seen.every((level, i) => Math.abs(level - colour[i]!) <= tolerance);
    return isNear ? [] : [`(${seen.join(", ")}) where (${colour.join(", ")}) is right`];
  });
}

export const suite: Suite = {
  summary: "files of public bug reports in <DIR>/reports: sizes, lengths, colours, times, filters",
  async run(options) {
    const { dataDir, log } = options;
    const folder = join(dataDir, "reports");
    await access(folder);
    const table = await withService(options, async ({ sightline }) => {
      const rows: Record<string, string>[] = [];
      for (const [position, right] of FILES.entries()) {
        const differences = await check(sightline, folder, position, right).catch(
          (error: unknown) => [String(error)],
        );
        const result = differences.length === 0 ? "right" : differences.join("; ");
        log(`${right.file}: ${result}`);
        rows.push({ file: right.file, result: result.slice(0, 160) });
      }
      return rows;
    });
    const problems = table.filter(({ result }) => result !== "right").length;
    return { table, json: { files: table.length, wrong: problems, table }, problems };
  },
};
