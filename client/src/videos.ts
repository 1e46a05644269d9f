import { addAsset, type AddOptions, isResumable, nameOf } from "./add-asset.ts";
import { Collection } from "./collection.ts";
import { Jobs } from "./jobs.ts";
import { type Page, listOf } from "./page.ts";
import type {
  AddedAsset,
  PageQuery,
  RequestOptions,
  Segment,
  Transcript,
  UpdatedTranscript,
  Video,
  VideoMetadata,
} from "./types.ts";
import { waitUntilReady } from "./wait-until-ready.ts";

export interface NewVideo {
  /** The file, or else `video_url`. */
  video_file?: Blob;
  video_url?: string;
  /** SRT, WebVTT, JSON or plain text, in place of speech recognition. */
  transcript?: Blob | string;
  metadata?: Record<string, unknown>;
  /**
   * Whether the file is sent by tus, which continues after a break. Default: above 50 MiB. In one
   * request, Node holds the whole file in memory.
   */
  resumable?: boolean;
}

/** The videos of an index. */
export class Videos extends Collection<Video> {
  /**
   * Adds a video. A resumable upload takes no transcript: with one, the call waits until the video
   * is ready and then replaces its transcript.
   */
  async add(video: NewVideo, options: AddOptions = {}): Promise<AddedAsset> {
    const { video_file: file, video_url: url, ...others } = video;
    const asset = { type: this.type, file, url, ...others };
    const added = await addAsset(this.transport, this.indexPath, asset, options);
    if (video.transcript === undefined || !isResumable(asset) || added.duplicate) return added;
    const { signal } = options;
    await waitUntilReady(this.transport, this.indexPath, [added.asset_id], { signal });
    const { job_id } = await this.replaceTranscript(added.asset_id, video.transcript, { signal });
    await new Jobs(this.transport).wait(job_id, { signal });
    return { ...added, ...(await this.get(added.asset_id, { signal })) };
  }

  /** Returns the user's metadata and the technical data of the file. */
  metadata(id: string, options: RequestOptions = {}): Promise<VideoMetadata> {
    return this.transport.json({ method: "GET", path: `${this.pathOf(id)}/metadata` }, options);
  }

  segments(id: string, query: PageQuery = {}, options: RequestOptions = {}): Page<Segment> {
    const path = `${this.pathOf(id)}/segments`;
    return listOf(this.transport, path, "segments", query, options);
  }

  /** Returns a CMX 3600 edit list of chosen segments, or of all. */
  editList(
    id: string,
    segmentIds: readonly string[] = [],
    options: RequestOptions = {},
  ): Promise<string> {
    const query = { segments: segmentIds };
    return this.transport.text({ method: "GET", path: `${this.pathOf(id)}/edl`, query }, options);
  }

  transcript(id: string, options: RequestOptions = {}): Promise<Transcript> {
    return this.transport.json({ method: "GET", path: this.#transcriptPath(id) }, options);
  }

  transcriptText(
    id: string,
    format: "vtt" | "srt" | "txt",
    options: RequestOptions = {},
  ): Promise<string> {
    const request = { method: "GET", path: this.#transcriptPath(id), query: { format } } as const;
    return this.transport.text(request, options);
  }

  /** Replaces the transcript of a ready video. The job derives its segments' text from it. */
  replaceTranscript(
    id: string,
    transcript: string | Blob,
    options: RequestOptions = {},
  ): Promise<UpdatedTranscript> {
    const body = new FormData();
    if (typeof transcript === "string") body.append("transcript", transcript);
    else body.append("transcript", transcript, nameOf(transcript, "transcript"));
    const path = this.#transcriptPath(id);
    return this.transport.json({ method: "POST", path, body, repeatable: "key" }, options);
  }

  #transcriptPath(id: string): string {
    return `${this.pathOf(id)}/transcript`;
  }
}
