import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import { newId } from "../ids.ts";
import type { Transcript } from "../ingest/transcript-read.ts";
import { TRANSCRIPT_FILES } from "../ingest/transcript-write.ts";
import type { JobMessage } from "../queues/messages.ts";
import { startJob } from "../store/jobs.ts";
import { getCues, getTranscript, putCues } from "../store/transcripts.ts";
import type { Asset } from "../types.ts";
import { videoParams } from "./asset-record.ts";
import { requireOwnAsset } from "./assets.ts";
import { attachment } from "./attachment.ts";
import { addEndpoint, createRouter } from "./endpoint.ts";
import { formFileOrText } from "./form-fields.ts";
import { missingFile, readForm, readSmall } from "./form.ts";
import { readTranscript, refusedTranscript } from "./transcript-part.ts";

/** What is said in a video: taking it out, and putting other words in. */
export const transcriptRoutes = createRouter("Transcripts");

const path = "/index/{index_name}/video/{video_id}/transcript";

addEndpoint(
  transcriptRoutes,
  {
    method: "get",
    path,
    summary: "Get Transcript",
    scope: "read",
    params: videoParams,
    query: z.object({ format: z.enum(["json", "vtt", "srt", "txt"]).default("json") }),
    response: z
      .object({
        video_id: z.string(),
        language: z.string().nullable(),
        source: z.enum(["upload", "asr", "platform"]),
        cues: z.array(z.object({ start: z.number(), end: z.number(), text: z.string() })),
      })
      .openapi("Transcript"),
    texts: Object.values(TRANSCRIPT_FILES).map(({ type }) => type),
  },
  async (c, { params, query }) => {
    const asset = await requireOwnAsset(c, "video", params.video_id);
    const summary = await getTranscript(c.env.DB, asset.assetId);
    if (!summary || (summary.problem && summary.cues === 0)) {
      throw new AppError("not_found", "This video has no transcript; give it one, or wait for it.");
    }
    const cues = await getCues(c.env.MEDIA, asset);
    if (cues.some(({ start }) => Number.isNaN(start))) {
      throw new AppError(
        "conflict",
        "The words have no times before the video has been read; wait.",
      );
    }
    const { language, source } = summary;
    if (query.format === "json") return { video_id: asset.assetId, language, source, cues };
    const { type, write } = TRANSCRIPT_FILES[query.format];
    return new Response(write(cues), {
      headers: {
        "content-type": `${type}; charset=utf-8`,
        "content-disposition": attachment(asset.title, query.format),
      },
    });
  },
);

addEndpoint(
  transcriptRoutes,
  {
    method: "post",
    path,
    summary: "Update Transcript",
    scope: "write",
    params: videoParams,
    form: z.object({ transcript: formFileOrText() }),
    adds: "record",
    response: z
      .object({
        video_id: z.string(),
        cues: z.int(),
        language: z.string().nullable(),
        job_id: z.string(),
      })
      .openapi("UpdatedTranscript"),
  },
  async (c, { params }) => {
    const asset = await requireOwnAsset(c, "video", params.video_id);
    const { accountId, indexId, assetId } = asset;
    if (asset.state !== "ready") {
      const message = `Only the transcript of a video that is ready can be replaced; this is ${asset.state}.`;
      throw new AppError("conflict", message);
    }
    const { language: own, cues } = readTranscript(await readPart(c.req.raw));
    requireWithin({ cues, language: own }, asset);
    const language = own ?? asset.language;
    const now = Date.now();
    const job: JobMessage = {
      kind: "transcript",
      jobId: newId("job", now),
      accountId,
      indexId,
      assetId,
      language,
    };
    await putCues(c.env.MEDIA, asset, cues, job.jobId);
    await startJob(c.env, job, now);
    return { video_id: assetId, cues: cues.length, language, job_id: job.jobId };
  },
);

/** The part `transcript`, which may be plain text, too. */
async function readPart(request: Request): Promise<Uint8Array> {
  let file: Uint8Array | undefined;
  const fields = await readForm(request, async (part) => {
    if (part.field === "transcript") file = await readSmall(part, LIMITS.transcriptBytes);
  });
  const text = fields.get("transcript");
  if (!file && text === undefined) throw missingFile("transcript", fields);
  return file ?? new TextEncoder().encode(text);
}

/** Words that all come after the video is over are another video's, or have their times in other units. */
function requireWithin({ cues }: Transcript, { durationMs }: Asset): void {
  const [first] = cues;
  if (!first || !(first.start * 1000 >= durationMs)) return;
  const why = `its first words come at ${first.start} s, and the video ends at ${durationMs / 1000} s.`;
  throw refusedTranscript(`The transcript is of something else: ${why}`);
}
