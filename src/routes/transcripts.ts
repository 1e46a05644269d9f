import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import { toVideoFps } from "../cues.ts";
import { AppError } from "../errors.ts";
import { requireCallerAsset } from "../http/caller-records.ts";
import { attachment } from "../http/content-disposition.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { formFileOrText, missingFileError, readForm, readSmallPart } from "../http/multipart.ts";
import { newId } from "../ids.ts";
import { TRANSCRIPT_FILES } from "../ingest/transcript/format.ts";
import type { Transcript } from "../ingest/transcript/parse.ts";
import { deleteUnusedCues } from "../ingest/transcript/replace.ts";
import { fitCues } from "../ingest/transcript/warnings.ts";
import type { JobMessage } from "../messages.ts";
import { startJob } from "../store/job-queue.ts";
import { getCues, getTranscript, putCues } from "../store/transcripts.ts";
import type { Asset } from "../types.ts";
import { transcriptOrigin, videoParams } from "./records/asset-record.ts";
import { STORAGE_FULL, countField, idField } from "./records/fields.ts";
import {
  invalidTranscript,
  parseEncodingLabel,
  parseTranscriptPart,
  TRANSCRIPT_FORMATS,
  transcriptEncoding,
} from "./transcript-part.ts";

export const transcriptRoutes = createRouter("Transcripts");

const videoId = idField("asset", "Id of the video.");

const transcriptQuery = z.object({
  format: z
    .enum(["json", "vtt", "srt", "txt"])
    .default("json")
    .describe("`json`: cues. `vtt` (WebVTT), `srt` (SubRip) and `txt` are files to download."),
});

addEndpoint(
  transcriptRoutes,
  {
    method: "get",
    path: "/index/{index_name}/video/{video_id}/transcript",
    operationId: "getTranscript",
    summary: "Get the transcript of a video",
    description:
      "Returns what is said in a video, with times: from an uploaded file, a platform's captions " +
      "or speech recognition, as `source` says.",
    errors: { conflict: "The transcript has no times yet: the audio is being analysed." },
    scope: "read",
    params: videoParams,
    query: transcriptQuery,
    response: z
      .object({
        video_id: videoId,
        ...transcriptOrigin,
        cues: z
          .array(
            z.object({
              start: z.number().describe("Start in seconds.").openapi({ example: 41.2 }),
              end: z.number().describe("End in seconds.").openapi({ example: 43 }),
              text: z
                .string()
                .describe("What is said.")
                .openapi({ example: "Oh no, that was my favourite cup." }),
            }),
          )
          .describe("Cues in order."),
      })
      .openapi("Transcript", { description: "What is said in a video." }),
    text: {
      [TRANSCRIPT_FILES.vtt.type]: {
        schema: z.string().describe("WebVTT."),
        example: "WEBVTT\n\n00:00:41.200 --> 00:00:43.000\nOh no, that was my favourite cup.\n",
      },
      [TRANSCRIPT_FILES.srt.type]: {
        schema: z.string().describe("SubRip."),
        example: "1\n00:00:41,200 --> 00:00:43,000\nOh no, that was my favourite cup.\n",
      },
      [TRANSCRIPT_FILES.txt.type]: {
        schema: z.string().describe("A line for each cue."),
        example: "Oh no, that was my favourite cup.\n",
      },
    },
  },
  getVideoTranscript,
);

async function getVideoTranscript(
  c: Context,
  { params, query }: Input<typeof videoParams, typeof transcriptQuery>,
) {
  const asset = await requireCallerAsset(c, "video", params.video_id);
  const { language, source } = await requireTranscript(c, asset);
  const cues = await requireTimedCues(c, asset);
  if (query.format === "json") return { video_id: asset.assetId, language, source, cues };
  const { type, format } = TRANSCRIPT_FILES[query.format];
  return new Response(format(cues), {
    headers: {
      "content-type": `${type}; charset=utf-8`,
      "content-disposition": attachment(asset.title, query.format),
    },
  });
}

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

addEndpoint(
  transcriptRoutes,
  {
    method: "post",
    path: "/index/{index_name}/video/{video_id}/transcript",
    operationId: "replaceTranscript",
    summary: "Replace the transcript of a video",
    description:
      "Replaces the transcript of a ready video and starts a job that derives the texts and " +
      "vectors of its segments. The earlier one stays searchable until the job has ended.",
    errors: {
      conflict: "The video isn't ready.",
      account_full: STORAGE_FULL,
    },
    scope: "write",
    params: videoParams,
    form: z.object({
      transcript: formFileOrText().describe(`Transcript as ${TRANSCRIPT_FORMATS}.`),
      transcript_encoding: transcriptEncoding,
    }),
    creates: "record",
    response: z
      .object({
        video_id: videoId,
        cues: countField("Cues of the transcript.", 24),
        language: transcriptOrigin.language,
        job_id: idField("job", "Id of the job that derives the segments' texts."),
      })
      .openapi("UpdatedTranscript", { description: "The transcript that was stored." }),
  },
  updateVideoTranscript,
);

async function updateVideoTranscript(c: Context, { params }: Input<typeof videoParams>) {
  const asset = await requireReadyVideo(c, params.video_id);
  const { accountId, indexId, assetId } = asset;
  const transcript = fitTranscript(await readTranscript(c.req.raw), asset);
  const language = transcript.language ?? asset.language;
  const now = Date.now();
  const jobId = newId("job", now);
  const { warnings } = transcript;
  const job: JobMessage = {
    kind: "transcript",
    jobId,
    accountId,
    indexId,
    assetId,
    language,
    warnings,
  };
  await putCues(c.env.MEDIA, asset, transcript.cues, jobId);
  try {
    await startJob(c.env, job, now);
  } catch (error) {
    await deleteUnusedCues(c.env, job, jobId);
    throw error;
  }
  return { video_id: assetId, cues: transcript.cues.length, language, job_id: jobId };
}

async function requireReadyVideo(c: Context, videoId: string): Promise<Asset> {
  const asset = await requireCallerAsset(c, "video", videoId);
  if (asset.state === "ready") return asset;
  const message = `Only the transcript of a ready video can be replaced; this is ${asset.state}.`;
  throw new AppError("conflict", message);
}

/** Reads the part `transcript`, a file or a text field, in the encoding that is given. */
async function readTranscript(request: Request): Promise<Transcript> {
  let file: Uint8Array | undefined;
  const fields = await readForm(request, async (part) => {
    if (part.field === "transcript") file = await readSmallPart(part, LIMITS.transcriptBytes);
  });
  const text = fields.get("transcript");
  if (!file && text === undefined) throw missingFileError("transcript", fields);
  const encoding = parseEncodingLabel(fields.get("transcript_encoding"));
  return parseTranscriptPart(file ?? new TextEncoder().encode(text), file ? encoding : "utf-8");
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
