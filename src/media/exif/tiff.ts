/** A TIFF, or an EXIF block, which is made like one (TIFF 6.0; CIPA DC-008). */
export interface Tiff {
  firstOffset: number;
  /** Reads a directory; null for a damaged one, and for one beyond the end. */
  directory: (offset: number) => Directory | null;
}

interface Entry {
  type: number;
  count: number;
  /** Offset of the value in the file. */
  at: number;
}

/** Bytes of a value by its type, 0 for types that aren't read. */
const TYPE_BYTES = [0, 1, 1, 2, 4, 8, 0, 1, 0, 4, 8];
const [ASCII, SHORT, RATIONAL] = [2, 3, 5];
export const SIGNED_RATIONAL = 10;
/** More than a file has, but for hostile ones. */
const [MAX_ENTRIES, MAX_VALUES, MAX_CHARACTERS] = [500, 64, 1000];
/** Tags of Windows, whose texts are bytes of UTF-16. */
const WIDE_TAGS = { first: 0x9c9b, last: 0x9c9f };

/** Opens a TIFF; null for another file. */
export function openTiff(bytes: Buffer): Tiff | null {
  const isLittleEndian = bytes.toString("latin1", 0, 4) === "II*\0";
  const isTiff = isLittleEndian || bytes.toString("latin1", 0, 4) === "MM\0*";
  if (!isTiff || bytes.length < 8) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return {
    firstOffset: view.getUint32(4, isLittleEndian),
    directory: (offset) => readDirectory(view, offset, isLittleEndian),
  };
}

function readDirectory(view: DataView, offset: number, little: boolean): Directory | null {
  const count = offset >= 8 && offset + 2 <= view.byteLength ? view.getUint16(offset, little) : 0;
  const end = offset + 2 + 12 * count;
  if (count === 0 || count > MAX_ENTRIES || end > view.byteLength) return null;
  const entries = new Map<number, Entry>();
  for (let at = offset + 2; at < end; at += 12) {
    const [type, values] = [view.getUint16(at + 2, little), view.getUint32(at + 4, little)];
    const isInline = (TYPE_BYTES[type] ?? 0) * values <= 4;
    const valueAt = isInline ? at + 8 : view.getUint32(at + 8, little);
    entries.set(view.getUint16(at, little), { type, count: values, at: valueAt });
  }
  return new Directory(view, little, entries);
}

/** Values of a TIFF by the numbers of their tags. */
export class Directory {
  readonly #view: DataView;
  readonly #little: boolean;
  readonly #entries: Map<number, Entry>;

  constructor(view: DataView, little: boolean, entries: Map<number, Entry>) {
    this.#view = view;
    this.#little = little;
    this.#entries = entries;
  }

  has(tag: number): boolean {
    return this.#entries.has(tag);
  }

  /** Adds the entries of another directory of the file. */
  add(other: Directory | null): void {
    if (!other) return;
    for (const [tag, entry] of other.#entries) this.#entries.set(tag, entry);
  }

  /**
   * Returns the numbers of a tag, at most 64, of its own type or of the one that is given; none
   * without the tag. A quotient may be NaN.
   */
  numbers(tag: number, type = this.#entries.get(tag)?.type ?? 0): number[] {
    const entry = this.#entries.get(tag);
    const [size, view, little] = [TYPE_BYTES[type] ?? 0, this.#view, this.#little];
    if (!entry || size === 0 || type === ASCII) return [];
    const room = Math.max(0, Math.floor((view.byteLength - entry.at) / size));
    return Array.from({ length: Math.min(entry.count, room, MAX_VALUES) }, (_, i) => {
      const at = entry.at + i * size;
      if (type === SHORT) return view.getUint16(at, little);
      if (type === RATIONAL) return view.getUint32(at, little) / view.getUint32(at + 4, little);
      if (type === SIGNED_RATIONAL)
        return view.getInt32(at, little) / view.getInt32(at + 4, little);
      return size === 4 ? view.getUint32(at, little) : size === 1 ? view.getUint8(at) : NaN;
    });
  }

  /** Returns the text of a tag up to its first NUL, at most 1,000 bytes; "" without the tag. */
  text(tag: number): string {
    const isWide = tag >= WIDE_TAGS.first && tag <= WIDE_TAGS.last;
    const isText = isWide || this.#entries.get(tag)?.type === ASCII;
    const bytes = isText ? this.bytes(tag)?.subarray(0, MAX_CHARACTERS) : undefined;
    return new TextDecoder(isWide ? "utf-16le" : "utf-8").decode(bytes).split("\0", 1)[0]!;
  }

  /** Returns the bytes of a tag; null without the tag. */
  bytes(tag: number): Buffer | null {
    const entry = this.#entries.get(tag);
    if (!entry) return null;
    const { buffer, byteOffset, byteLength } = this.#view;
    const whole = Buffer.from(buffer, byteOffset, byteLength);
    return whole.subarray(entry.at, entry.at + entry.count * (TYPE_BYTES[entry.type] ?? 0));
  }
}
