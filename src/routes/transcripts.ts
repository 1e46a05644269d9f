import { toVideoFps } from "../cues.ts";
import { AppError } from "../errors.ts";
import { requireCallerAsset } from "../http/caller-records.ts";
import { textFile } from "../http/content-disposition.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter } from "../http/endpoint.ts";
import { countField, idField, number, text } from "../http/fields.ts";
import { readForm } from "../http/multipart.ts";
import * as z from "../http/zod.ts";
import { newId } from "../ids.ts";
import { fitCues } from "../ingest/transcript/cue-times.ts";
import { TRANSCRIPT_FILES } from "../ingest/transcript/format.ts";
import type { Transcript } from "../ingest/transcript/parse.ts";
import { deleteUnusedCues } from "../ingest/transcript/replace.ts";
import type { JobMessage } from "../messages.ts";
import { startJob } from "../store/d1/jobs.ts";
import { getCues, getTranscript, putCues } from "../store/transcripts.ts";
import type { Asset } from "../types.ts";
import {
  invalidTranscript,
  parseTranscriptPart,
  TRANSCRIPT_FORMATS,
  transcriptEncoding,
  transcriptPart,
  transcriptReaders,
} from "./new-asset.ts";
import { transcriptOrigin } from "./records/asset-record.ts";

export const transcriptRoutes = createRouter("Transcripts");

const videoId = idField("asset", "Id of the video.");

const transcriptQuery = z.object({
  format: z
    .enum(["json", "vtt", "srt", "txt"])
    .default("json")
    .describe("`json`: cues. `vtt` (WebVTT), `srt` (SubRip) and `txt` are files to download."),
});

addEndpoint(transcriptRoutes, "GET /index/{index_name}/video/{video_id}/transcript", {
  operationId: "getTranscript",
  summary: "Get the transcript of a video",
  description:
    "Returns what is said in a video, with times: from an uploaded file, a platform's captions " +
    "or speech recognition, as `source` says.",
  errors: { conflict: "The transcript has no times yet: the audio is being analysed." },
  query: transcriptQuery,
  response: z
    .object({
      video_id: videoId,
      ...transcriptOrigin,
      cues: z
        .array(
          z.object({
            start: number("Start in seconds.", 41.2),
            end: number("End in seconds.", 43),
            text: text("What is said.", "Oh no, that was my favourite cup."),
          }),
        )
        .describe("Cues in order."),
    })
    .openapi("Transcript", { description: "What is said in a video." }),
  text: {
    [TRANSCRIPT_FILES.vtt.type]: {
      schema: text("WebVTT."),
      example: "WEBVTT\n\n00:00:41.200 --> 00:00:43.000\nOh no, that was my favourite cup.\n",
    },
    [TRANSCRIPT_FILES.srt.type]: {
      schema: text("SubRip."),
      example: "1\n00:00:41,200 --> 00:00:43,000\nOh no, that was my favourite cup.\n",
    },
    [TRANSCRIPT_FILES.txt.type]: {
      schema: text("A line for each cue."),
      example: "Oh no, that was my favourite cup.\n",
    },
  },
  async handle(c, { query }) {
    const asset = await requireCallerAsset(c, "video");
    const { language, source } = await requireTranscript(c, asset);
    const cues = await requireTimedCues(c, asset);
    if (query.format === "json") return { video_id: asset.assetId, language, source, cues };
    const { type, format } = TRANSCRIPT_FILES[query.format];
    return textFile(type, asset.title, query.format, format(cues));
  },
});

async function requireTranscript(c: Context, { assetId }: Asset) {
  const summary = await getTranscript(c.env.DB, assetId);
  if (summary && !(summary.error && summary.cues === 0)) return summary;
  const message = "This video has no transcript: upload one, or wait until the video is ready.";
  throw new AppError("not_found", message);
}

/**
 * Throws `conflict` for an uploaded plain text, whose cues get times when the video is analysed.
 */
async function requireTimedCues(c: Context, asset: Asset) {
  const cues = await getCues(c.env.MEDIA, asset);
  if (!cues.some(({ start }) => Number.isNaN(start))) return cues;
  const message = "The transcript has no times until the video's audio is analysed. Retry later.";
  throw new AppError("conflict", message);
}

const transcriptForm = z.object({
  transcript: transcriptPart.describe(`Transcript as ${TRANSCRIPT_FORMATS}.`),
  transcript_encoding: transcriptEncoding,
});

addEndpoint(transcriptRoutes, "POST /index/{index_name}/video/{video_id}/transcript", {
  operationId: "replaceTranscript",
  summary: "Replace the transcript of a video",
  description:
    "Replaces the transcript of a ready video and starts a job that derives the texts and " +
    "vectors of its segments. The earlier one stays searchable until the job has ended.",
  errors: {
    conflict: "The video isn't ready.",
  },
  form: transcriptForm,
  formExample: { transcript: "beach.srt" },
  creates: "record",
  response: z
    .object({
      video_id: videoId,
      cues: countField("Cues of the transcript.", 24),
      language: transcriptOrigin.language,
      job_id: idField("job", "Id of the job that derives the segments' texts."),
    })
    .openapi("UpdatedTranscript", { description: "The transcript that was stored." }),
  async handle(c) {
    const asset = await requireReadyVideo(c);
    const { accountId, indexId, assetId } = asset;
    const form = await readForm(c.req.raw, transcriptForm, { readers: transcriptReaders });
    const read = parseTranscriptPart(form.transcript, form.transcript_encoding);
    const { cues, warnings, ...transcript } = fitTranscript(read, asset);
    const language = transcript.language ?? asset.language;
    const now = Date.now();
    const jobId = newId("job", now);
    const ids = { jobId, accountId, indexId, assetId };
    const job: JobMessage = { kind: "transcript", ...ids, language, warnings };
    await putCues(c.env.MEDIA, asset, cues, jobId);
    try {
      await startJob(c.env, job, now);
    } catch (error) {
      await deleteUnusedCues(c.env, job, jobId);
      throw error;
    }
    return { video_id: assetId, cues: cues.length, language, job_id: jobId };
  },
});

async function requireReadyVideo(c: Context): Promise<Asset> {
  const asset = await requireCallerAsset(c, "video");
  if (asset.state === "ready") return asset;
  const message = `Only the transcript of a ready video can be replaced; this is ${asset.state}.`;
  throw new AppError("conflict", message);
}

/**
 * Fits a transcript to the video: frames become seconds, times that begin at a whole hour are
 * shifted. Throws if the first cue starts after the end of the video: the transcript is another
 * video's, or its times are in another unit. Cues without times (NaN) pass.
 */
function fitTranscript(transcript: Transcript, { durationMs, fps }: Asset): Transcript {
  const { isFrameBased } = transcript;
  const given = isFrameBased ? toVideoFps(transcript.cues, fps ?? NaN) : transcript.cues;
  const { cues, warnings } = fitCues(given, durationMs / 1000);
  const [first] = cues;
  if (first && first.start * 1000 >= durationMs) {
    const times = `its first cue starts at ${first.start} s, the video ends at ${durationMs / 1000} s`;
    throw invalidTranscript(`The transcript doesn't fit the video: ${times}.`);
  }
  return { ...transcript, cues, warnings: [...transcript.warnings, ...warnings] };
}
