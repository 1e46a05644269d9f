import { basename } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import {
  type Asset,
  type Hit,
  type SearchRequest,
  type SearchResult,
  type Segment,
  type Sightline,
  SightlineError,
  type SightlineIndex,
} from "sightline";
import { openFile } from "sightline/node";
import { poll } from "../../tools/poll.ts";
import type { ProgressBars } from "../../tools/progress.ts";
import type { JourneyFacts } from "./assumptions.ts";
import { PAGE, SCENES, type SmokeFiles, SPEECH } from "./files.ts";

const POLL_MS = 500;
const INGEST_MS = 10 * 60_000;
const JOB_MS = 10 * 60_000;
/** Vectorize shows a vector after up to 2 minutes. */
const SEARCH_MS = 5 * 60_000;
/** Most that a search takes: asset ids, and rules of a filter. */
const [MAX_IDS, MAX_RULES] = [500, 16];
const UNKNOWN_ID = "img_01ARZ3NDEKTSV4RRFFQ69G5FAV";

/** Findings that the files of the journey must have, or have without a speech recogniser. */
const UNREPAIRABLE = new Set(["ingest_failed", "sound_unrecognized"]);

export interface Step {
  title: string;
  /** What was seen, or why it failed. */
  note: string;
  outcome: "ok" | "failed" | "not checked";
}

/** Result of the job that a traversal starts. */
interface Repair {
  unrepaired?: { code: string; message: string }[];
}

export interface JourneyOptions {
  onStep: (step: Step) => void;
  /** Shows the ingest; null doesn't. */
  bars: ProgressBars | null;
  /** Whether the journey fails without a speech recogniser. */
  needsSpeech: boolean;
}

/**
 * Takes the files through the whole service: ingest, each search, an answer, a traversal. The index
 * must exist. A failed step doesn't stop the others, but for the ingest.
 */
export class Journey {
  readonly #sightline: Sightline;
  readonly #index: SightlineIndex;
  readonly #files: SmokeFiles;
  readonly #options: JourneyOptions;

  constructor(sightline: Sightline, index: string, files: SmokeFiles, options: JourneyOptions) {
    this.#sightline = sightline;
    this.#index = sightline.index(index);
    this.#files = files;
    this.#options = options;
  }

  /** Returns what was seen; null if the ingest failed. */
  async run(): Promise<JourneyFacts | null> {
    const { film, photo, page } = this.#files;
    const assets = await this.#step("Ingest a film, a photo and a page", async () => {
      const ready = await Promise.all([
        this.#ingest("video", film),
        this.#ingest("image", photo),
        this.#ingest("image", page),
      ]);
      return { value: ready, note: `${ready.length} ready` };
    });
    if (!assets) return null;
    const readyAt = Date.now();
    const [filmAsset, photoAsset, pageAsset] = assets;
    const vectorSeconds = await this.#step("Search by meaning", async () => {
      await this.#searchUntil("celebration with lights in the evening", pageAsset.asset_id);
      const seconds = (Date.now() - readyAt) / 1000;
      return { value: seconds, note: `the page, after ${seconds.toFixed(1)} s` };
    });
    const segments = await this.#segments(filmAsset);
    const recognizedWords = await this.#searchSpeech(segments, filmAsset);
    await this.#step("Search by text on a page", () => this.#expectFirst(PAGE[0]!, pageAsset));
    await this.#step("Search by an image", () =>
      eventually(() => this.#searchByImage(photo, photoAsset)),
    );
    await this.#step("Search by a clip", () =>
      eventually(() => this.#searchByClip(film, filmAsset)),
    );
    await this.#step("Search for what is similar", async () => {
      const { segments: hits } = await this.#search({ similar_to: photoAsset.asset_id });
      if (hits.some(({ asset_id: id }) => id === photoAsset.asset_id)) {
        throw new Error("the photo is similar to itself");
      }
      return { note: `${hits.length} others` };
    });
    await this.#step("Answer a question", async () => {
      const { answer, grounded } = await this.#index.answer("Where is the lantern festival?");
      if (!grounded) throw new Error(`not grounded: ${answer}`);
      return { note: answer };
    });
    await this.#step("Traverse and repair", () => this.#traverse());
    return {
      boundaries: segments.map(({ start_seconds }) => start_seconds ?? 0),
      sceneTexts: SCENES.map((_, i) => segments[i]?.on_screen_text ?? ""),
      descriptionErrors: assets
        .flatMap(({ warnings }) => warnings)
        .filter(({ message }) => message.includes("can't be described"))
        .map(({ code }) => code),
      recognizedWords,
      spokenWords: wordsOf(SPEECH.map(({ text }) => text).join(" ")).length,
      vectorSeconds: vectorSeconds ?? null,
      largestSearch: await this.#largestSearch(),
    };
  }

  #step<T>(title: string, work: () => Promise<StepResult<T>>): Promise<T | undefined> {
    return runStep(title, work, this.#options.onStep);
  }

  async #ingest(type: "video" | "image", path: string): Promise<Asset> {
    const { videos, images } = this.#index;
    const file = await openFile(path);
    const { asset_id } = await (type === "video"
      ? videos.add({ video_file: file })
      : images.add({ image_file: file }));
    const onProgress = ({ state, progress: fraction }: Asset) => {
      const isDone = ["ready", "failed"].includes(state);
      const line = { name: basename(path), state, fraction, ...(isDone && { outcome: state }) };
      this.#options.bars?.update(path, line);
    };
    const options = { onProgress, timeoutMs: INGEST_MS };
    const [asset] = await this.#index.waitUntilReady(asset_id, options);
    return asset!;
  }

  async #segments({ asset_id }: Asset): Promise<Segment[]> {
    return (await this.#index.videos.segments(asset_id)).items;
  }

  #search(request: SearchRequest): Promise<SearchResult> {
    return this.#index.search(request);
  }

  /** Repeats a search until a text vector finds the asset. */
  #searchUntil(query: string, assetId: string): Promise<Hit> {
    return poll(SEARCH_MS, "The search", async () => {
      const { segments } = await this.#search({ query });
      const hit = segments.find(({ asset_id: id }) => id === assetId);
      return hit?.signals["text_margin"] === undefined ? null : hit;
    });
  }

  async #expectFirst(query: string, { asset_id, title }: Asset) {
    const { segments } = await this.#search({ query });
    if (segments[0]?.asset_id !== asset_id) {
      throw new Error(`${title} isn't the first hit but ${segments[0]?.title ?? "none"}`);
    }
    return { note: `${title}, ${segments[0].score}` };
  }

  /** Returns how many words of the speech were recognised; null without a recogniser. */
  async #searchSpeech(segments: Segment[], film: Asset): Promise<number | null> {
    const heard = new Set(wordsOf(segments.map(({ transcript }) => transcript).join(" ")));
    const spoken = wordsOf(SPEECH.map(({ text }) => text).join(" "));
    const isUnavailable = film.warnings.some(({ code }) => code === "model_not_found");
    if (heard.size === 0 && isUnavailable) {
      await this.#step("Search by speech", async () => {
        const note = "there is no speech recogniser";
        if (this.#options.needsSpeech) throw new Error(note);
        return { note, isChecked: false };
      });
      return null;
    }
    await this.#step("Search by speech", () => this.#expectFirst(SPEECH[0].text, film));
    return spoken.filter((word) => heard.has(word)).length;
  }

  async #searchByImage(path: string, photo: Asset) {
    const image_file = await openFile(path);
    const [first] = (await this.#index.searchByImage({ image_file })).segments;
    if (first?.asset_id !== photo.asset_id) throw new Error("the photo isn't the first hit");
    return { note: `${photo.title}, ${first.score}` };
  }

  async #searchByClip(path: string, film: Asset) {
    const range = { start_seconds: SCENES[2].start, end_seconds: SCENES[3].start };
    const video_file = await openFile(path);
    const [first] = (await this.#index.searchByVideo({ video_file, ...range })).segments;
    if (first?.asset_id !== film.asset_id) throw new Error("the film isn't the first hit");
    return { note: `${film.title} from ${first.start_seconds} s, ${first.score}` };
  }

  async #traverse() {
    const { job_id } = await this.#index.repair();
    const signal = AbortSignal.timeout(JOB_MS);
    const { result } = await this.#sightline.jobs.wait(job_id, { signal });
    const { unrepaired = [] } = (result ?? {}) as Repair;
    const unexpected = unrepaired.find(({ code }) => !UNREPAIRABLE.has(code));
    if (unexpected) throw new Error(unexpected.message);
    return { note: "nothing is left to repair" };
  }

  /** Returns the status of a search with as many unknown ids, and rules, as it may have. */
  async #largestSearch(): Promise<number> {
    const asset_ids = Array.from(
      { length: MAX_IDS },
      (_, i) => UNKNOWN_ID.slice(0, -3) + (100 + i),
    );
    const rules = Array.from({ length: MAX_RULES }, (_, i) => [`field${i}`, { $gte: i }]);
    try {
      await this.#search({ query: "boat", asset_ids, filter: Object.fromEntries(rules) });
      return 200;
    } catch (error) {
      if (error instanceof SightlineError && error.status !== undefined) return error.status;
      throw error;
    }
  }
}

interface StepResult<T> {
  value?: T;
  note: string;
  /** False if nothing could be checked. */
  isChecked?: boolean;
}

/** Does a step and reports its outcome. Returns undefined if it failed; throws if interrupted. */
export async function runStep<T>(
  title: string,
  work: () => Promise<StepResult<T>>,
  onStep: (step: Step) => void,
): Promise<T | undefined> {
  try {
    const { value, note, isChecked = true } = await work();
    onStep({ title, outcome: isChecked ? "ok" : "not checked", note });
    return value;
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") throw error;
    const note = error instanceof Error ? error.message : String(error);
    onStep({ title, outcome: "failed", note });
    return undefined;
  }
}

/** Repeats what fails while Vectorize may not show a vector yet. Throws the last error. */
async function eventually<T>(work: () => Promise<T>): Promise<T> {
  for (const start = Date.now(); ; await wait(POLL_MS)) {
    try {
      return await work();
    } catch (error) {
      const isOver = Date.now() - start > SEARCH_MS || error instanceof SightlineError;
      if (isOver) throw error;
    }
  }
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/\p{L}+/gu) ?? [];
}
