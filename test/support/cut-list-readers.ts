import type { FrameRate } from "../../src/media/timecode.ts";

/** A cut as a file has it: frames of the source by its timecode, and of the programme. */
export interface ReadCut {
  name: string;
  source: [from: number, to: number];
  record: [from: number, to: number];
}

/** An element of XML, its texts joined. */
export interface Element {
  name: string;
  attributes: Record<string, string>;
  children: Element[];
  text: string;
}

const TOKEN =
  /<\?[^?]*\?>|<!DOCTYPE [^>]*>|<(\/?)([\w-]+)((?:\s+[\w-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/gy;

/** Reads XML without comments, sections or namespaces. Throws for what isn't well-formed. */
export function readXml(xml: string): Element {
  const root: Element = { name: "", attributes: {}, children: [], text: "" };
  const open = [root];
  let end = 0;
  for (const match of xml.matchAll(TOKEN)) {
    end = match.index + match[0].length;
    const [, close, name, attributes = "", empty, text] = match;
    const top = open.at(-1)!;
    if (text !== undefined) top.text += unescapeXml(text);
    if (name === undefined) continue;
    if (close) {
      if (open.pop()!.name !== name) throw new Error(`</${name}> closes another element`);
      continue;
    }
    const pairs = [...attributes.matchAll(/([\w-]+)="([^"]*)"/g)];
    const values = pairs.map(([, key, value]) => [key!, unescapeXml(value!)] as const);
    if (new Set(values.map(([key]) => key)).size < values.length) throw new Error("twice");
    const element = { name, attributes: Object.fromEntries(values), children: [], text: "" };
    top.children.push(element);
    if (!empty) open.push(element);
  }
  if (end !== xml.length || open.length !== 1 || root.children.length !== 1 || root.text.trim()) {
    throw new Error(`No XML at ${end}: ${xml.slice(end, end + 40)}`);
  }
  return root.children[0]!;
}

function unescapeXml(text: string): string {
  const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"' };
  return text.replaceAll(/&(\w*;?)/g, (whole, name: string) => {
    const character = entities[name.replace(";", "")];
    if (!name.endsWith(";") || character === undefined) throw new Error(`entity ${whole}`);
    return character;
  });
}

export function find(element: Element, ...path: string[]): Element {
  return path.reduce((at, name) => {
    const child = at.children.find((one) => one.name === name);
    if (!child) throw new Error(`<${at.name}> has no <${name}>`);
    return child;
  }, element);
}

/** Counts the frames that timecode has numbered before: minute for minute, as a clock would. */
export function countFrames(timecode: string, rate: FrameRate): number {
  const [hours, minutes, seconds, frames] = timecode.split(/[:;]/).map(Number) as [
    number,
    number,
    number,
    number,
  ];
  const base = Math.round(rate.numerator / rate.denominator);
  const dropped = timecode.includes(";") ? base / 15 : 0;
  let count = 0;
  for (let minute = 0; minute < hours * 60 + minutes; minute++) {
    count += 60 * base - (minute % 10 === 0 ? 0 : dropped);
  }
  const isDropped = minutes % 10 !== 0 && seconds === 0 && frames < dropped;
  if (isDropped) throw new Error(`${timecode} is no number of a frame`);
  return count + seconds * base + frames - (minutes % 10 === 0 ? 0 : dropped);
}

/** Reads the events of a CMX 3600 list; `rates` are those of the sources, in their order. */
export function readEdl(text: string, rate: FrameRate, rates: FrameRate[]): ReadCut[] {
  const event = /^(\d{3}) {2}(\S{1,8}) +([VAB]) +C {8}(\S{11}) (\S{11}) (\S{11}) (\S{11})$/;
  const cuts: ReadCut[] = [];
  for (const line of text.split("\r\n")) {
    const [, number, , , ...times] = event.exec(line) ?? [];
    if (number !== undefined) {
      if (Number(number) !== cuts.length + 1) throw new Error(`event ${number}`);
      const counts = times.map((time, i) => countFrames(time, i < 2 ? rates[cuts.length]! : rate));
      const [from, to, into, out] = counts as [number, number, number, number];
      cuts.push({ name: "", source: [from, to], record: [into, out] });
    }
    if (line.startsWith("* FROM CLIP NAME: ")) cuts.at(-1)!.name = line.slice(18);
  }
  return cuts;
}

/** Reads the frames of a time of FCPXML. Throws for a time between two frames. */
function toFrames(time: string, { numerator, denominator }: FrameRate): number {
  const [, ticks, scale = "1"] = /^(\d+)(?:\/(\d+))?s$/.exec(time)!;
  const [product, divisor] = [
    BigInt(ticks!) * BigInt(numerator),
    BigInt(scale) * BigInt(denominator),
  ];
  if (product % divisor !== 0n) throw new Error(`${time} is between two frames`);
  return Number(product / divisor);
}

function toRate(frameDuration: string): FrameRate {
  const [, denominator, numerator = "1"] = /^(\d+)(?:\/(\d+))?s$/.exec(frameDuration)!;
  return { numerator: Number(numerator), denominator: Number(denominator) };
}

export function readFcpxml(text: string): ReadCut[] {
  const root = readXml(text);
  const byId = new Map(find(root, "resources").children.map((one) => [one.attributes["id"]!, one]));
  const sequence = find(root, "library", "event", "project", "sequence");
  const rateOf = (id: string | undefined) => {
    const duration = id === undefined ? undefined : byId.get(id)!.attributes["frameDuration"];
    return duration === undefined ? null : toRate(duration);
  };
  const rate = rateOf(sequence.attributes["format"])!;
  return find(sequence, "spine").children.map(({ attributes }) => {
    const asset = byId.get(attributes["ref"]!)!;
    const sourceRate = rateOf(asset.attributes["format"]) ?? rate;
    const from = toFrames(attributes["start"]!, sourceRate);
    const into = toFrames(attributes["offset"]!, rate);
    const frames = toFrames(attributes["duration"]!, rate);
    return { name: asset.attributes["name"]!, source: [from, NaN], record: [into, into + frames] };
  });
}

/** Reads both tracks of an xmeml sequence: an item of sound and one of pictures are one cut. */
export function readPremiereXml(text: string): ReadCut[] {
  const sequence = find(readXml(text), "sequence");
  const media = find(sequence, "media").children.flatMap(({ children }) => children);
  const items = media.filter(({ name }) => name === "track").flatMap(({ children }) => children);
  const number = (element: Element, ...path: string[]) => Number(find(element, ...path).text);
  const files = new Map<string, Element>();
  for (const item of items) {
    const file = find(item, "file");
    if (file.children.length > 0) files.set(file.attributes["id"]!, file);
  }
  const programmeStart = number(sequence, "timecode", "frame");
  const ratio =
    number(sequence, "rate", "timebase") / number(sequence, "timecode", "rate", "timebase");
  const cuts = new Map<number, ReadCut>();
  for (const item of items) {
    const file = files.get(find(item, "file").attributes["id"]!)!;
    const timecode = file.children.find((one) => one.name === "timecode");
    const counted = timecode ? number(timecode, "rate", "timebase") : 1;
    const start = timecode
      ? Math.round((number(timecode, "frame") * number(file, "rate", "timebase")) / counted)
      : 0;
    const [from, to, into, out] = ["in", "out", "start", "end"].map((name) => number(item, name));
    const record = [into, out].map((frame) => frame! + Math.round(programmeStart * ratio));
    const cut = { name: find(item, "name").text, source: [from! + start, to! + start], record };
    const other = cuts.get(into!);
    if (other && JSON.stringify(other) !== JSON.stringify(cut)) throw new Error("tracks differ");
    cuts.set(into!, cut as ReadCut);
  }
  return [...cuts].toSorted(([a], [b]) => a - b).map(([, cut]) => cut);
}

interface OtioTime {
  value: number;
  rate: number;
}
interface OtioItem {
  OTIO_SCHEMA: string;
  name: string;
  source_range: { start_time: OtioTime; duration: OtioTime };
}

/** Reads an OTIO timeline: a gap on one track is beside a clip of the same length on the other. */
export function readOtio(text: string): Omit<ReadCut, "record">[] {
  const { tracks } = JSON.parse(text) as { tracks: { children: { children: OtioItem[] }[] } };
  const [first, ...others] = tracks.children.map(({ children }) => children);
  return first!.map((item, i) => {
    const beside = others.map((track) => track[i]!);
    const clip = [item, ...beside].find((one) => one.OTIO_SCHEMA === "Clip.2")!;
    for (const { source_range: range } of [item, ...beside]) {
      const { duration } = clip.source_range;
      if (JSON.stringify(range.duration) !== JSON.stringify(duration)) throw new Error("length");
    }
    const { start_time: start, duration } = clip.source_range;
    return { name: clip.name, source: [start.value, start.value + duration.value] };
  });
}

/** Reads the markers of Resolve's timeline EDL: their frames, colours, names and notes. */
export function readMarkerEdl(text: string, rate: FrameRate) {
  const lines = text.split("\r\n").slice(3);
  return Array.from({ length: Math.floor(lines.length / 3) }, (_, i) => {
    const [event, marker] = lines.slice(3 * i, 3 * i + 2) as [string, string];
    const [, note, color, name, frames] = /^(.*) \|C:ResolveColor(\w+) \|M:(.*) \|D:(\d+)$/.exec(
      marker,
    )!;
    const from = countFrames(event.split(/ +/)[6]!, rate);
    return { name, note, color, record: [from, from + Number(frames)] };
  });
}

/** Reads CSV (RFC 4180) as records by its header. */
export function readCsv(text: string): Record<string, string>[] {
  const rows = text
    .split("\r\n")
    .slice(0, -1)
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(
        ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain!,
      ),
    );
  const [header, ...records] = rows;
  return records.map((row) => Object.fromEntries(header!.map((name, i) => [name, row[i]!])));
}
