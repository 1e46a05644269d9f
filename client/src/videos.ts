import { addAsset, type AddOptions, isResumable, nameOf } from "./add-asset.ts";
import type { ApiPath } from "./api-path.ts";
import { Collection } from "./collection.ts";
import { Jobs } from "./jobs.ts";
import { type Page, listOf } from "./page.ts";
import type {
  AddedAsset,
  PageQuery,
  QueuedJob,
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
  /** Encoding of the transcript file, as `windows-1250`; detected by default. */
  transcript_encoding?: string;
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
   * @example
   * const { asset_id } = await index.videos.add({ video_file: file, metadata: { year: 2026 } });
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

  /**
   * Returns the user's metadata and the technical data of the file.
   * @example
   * const { metadata, technical } = await index.videos.metadata(videoId);
   */
  metadata(id: string, options: RequestOptions = {}): Promise<VideoMetadata> {
    return this.transport.json({ method: "GET", path: [...this.pathOf(id), "metadata"] }, options);
  }

  /**
   * Starts a job that makes a copy of a video that browsers don't play.
   * @example
   * const { job_id } = await index.videos.createPlaybackCopy(videoId);
   * await sightline.jobs.wait(job_id);
   */
  createPlaybackCopy(id: string, options: RequestOptions = {}): Promise<QueuedJob> {
    const path = [...this.pathOf(id), "playback_copy"];
    return this.transport.json({ method: "POST", path }, options);
  }

  /**
   * Lists the segments of a video, from its start.
   * @example
   * for await (const { start_seconds, caption } of index.videos.segments(videoId)) {
   *   console.log(start_seconds, caption);
   * }
   */
  segments(id: string, query: PageQuery = {}, options: RequestOptions = {}): Page<Segment> {
    const path = [...this.pathOf(id), "segments"];
    return listOf(this.transport, path, "segments", query, options);
  }

  /**
   * Returns a CMX 3600 edit list of chosen segments, or of all.
   * @example
   * const edl = await index.videos.editList(videoId, [segmentId]);
   */
  editList(
    id: string,
    segmentIds: readonly string[] = [],
    options: RequestOptions = {},
  ): Promise<string> {
    const query = { segments: segmentIds };
    return this.transport.text(
      { method: "GET", path: [...this.pathOf(id), "edl"], query },
      options,
    );
  }

  /**
   * Returns the cues of the transcript.
   * @example
   * const { cues, language } = await index.videos.transcript(videoId);
   */
  transcript(id: string, options: RequestOptions = {}): Promise<Transcript> {
    return this.transport.json({ method: "GET", path: this.#transcriptPath(id) }, options);
  }

  /**
   * Returns the transcript as subtitles or as plain text.
   * @example
   * const subtitles = await index.videos.transcriptText(videoId, "srt");
   */
  transcriptText(
    id: string,
    format: "vtt" | "srt" | "txt",
    options: RequestOptions = {},
  ): Promise<string> {
    const request = { method: "GET", path: this.#transcriptPath(id), query: { format } } as const;
    return this.transport.text(request, options);
  }

  /**
   * Replaces the transcript of a ready video. The job derives its segments' text from it.
   * @example
   * const { job_id } = await index.videos.replaceTranscript(videoId, file);
   * await sightline.jobs.wait(job_id);
   */
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

  #transcriptPath(id: string): ApiPath {
    return [...this.pathOf(id), "transcript"];
  }
}
