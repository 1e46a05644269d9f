import { requireCallerAsset } from "../http/caller-records.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { requestPlaybackCopy } from "../ingest/playback-copy.ts";
import { videoParams } from "./records/asset-record.ts";
import { RECORDS_FULL } from "./records/fields.ts";
import { queuedJob } from "./records/job-record.ts";

export const playbackCopyRoutes = createRouter("Videos and images");

addEndpoint(
  playbackCopyRoutes,
  {
    method: "post",
    path: "/index/{index_name}/video/{video_id}/playback_copy",
    operationId: "createPlaybackCopy",
    summary: "Make a copy that browsers play",
    description:
      "Starts a job that makes an MP4 of a ready video whose file browsers don't play. From then on " +
      "`media_url` and `clip_url` play the copy, and `original_url` gives the file. A video that " +
      "needs it gets one without asking, unless the deployment sets `PLAYBACK_COPIES`.",
    errors: {
      account_full: RECORDS_FULL,
      conflict: "The video isn't ready, or has a copy.",
      decoder_not_configured: "The deployment has no decoder (docs/operate.md#other-codecs).",
    },
    scope: "write",
    params: videoParams,
    response: queuedJob,
  },
  createPlaybackCopy,
);

async function createPlaybackCopy(c: Context, { params }: Input<typeof videoParams>) {
  const asset = await requireCallerAsset(c, "video", params.video_id);
  return { job_id: await requestPlaybackCopy(c.env, asset), state: "queued" as const };
}
