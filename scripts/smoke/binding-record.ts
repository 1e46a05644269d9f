/** A call of a binding: one of both is null. */
export interface Observed<Value> {
  value: Value | null;
  error: BindingError | null;
}

export interface BindingError {
  /** Code of Cloudflare, such as `9412` or `D1_ERROR`; null if it gave none. */
  code: string | null;
  /** Error of the service that it leads to. */
  meaning: string;
}

/** A frame, with its mean brightness of 0 to 255. */
export interface FrameRecord {
  width: number;
  height: number;
  luma: number;
}

/** A contact sheet. */
interface TileRecord {
  width: number;
  height: number;
  columns: number;
  /** What FRAMES takes the requested size for. */
  sizeOf: "tile" | "sheet";
  /** Mean brightness of each tile, row by row. */
  tileLumas: number[];
}

/** What the probe answers to each of its observations. */
export interface ProbeResults {
  sheet: TileRecord;
  frame: FrameRecord;
  /** Null without a decoder. */
  decoder: FrameRecord | null;
  codec: { isListed: boolean; frame: Observed<FrameRecord> };
  image: { format: string; width: number; height: number };
  /** Length of the vector of an image or a text. */
  embedding: number;
  /** Score of the vector that is observed; null if no query finds it. */
  vector: { cosine: number; score: number | null };
  database: null;
}

/** What the bindings of a deployment answered. */
export interface BindingRecord {
  sheet: Observed<TileRecord>;
  /** Sheets as large as the detection of shots makes, each half of the refused one before. */
  fullSheets: (Observed<TileRecord> & { tiles: number })[];
  frame: Observed<FrameRecord>;
  decoder: Observed<FrameRecord | null>;
  codecs: { codec: string; isListed: boolean; frame: Observed<FrameRecord> }[];
  images: Observed<ProbeResults["image"]>[];
  embeddings: (Observed<number> & { input: "text" | "image" })[];
  vector: Observed<ProbeResults["vector"]>;
  database: { limit: string; size: number; error: BindingError | null }[];
}
