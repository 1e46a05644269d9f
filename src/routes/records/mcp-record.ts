import { z } from "@hono/zod-openapi";
import { pageOf } from "../../http/pagination.ts";
import { partialField } from "../index-names.ts";
import { answerRecord } from "./answer-record.ts";
import { assetRecord } from "./asset-record.ts";
import { indexRecord } from "./index-record.ts";
import { searchResult } from "./search-result.ts";
import { hitRecord, hitStep } from "./segment-record.ts";
import { matchRecord, watchRecord } from "./watch-record.ts";

/** Fields of a hit for MCP tools. Fields without use to a language model would fill its context. */
export const mcpMoment = hitRecord.pick({
  rank: true,
  score: true,
  segment_id: true,
  index_name: true,
  asset_id: true,
  asset_type: true,
  title: true,
  start_seconds: true,
  end_seconds: true,
  caption: true,
  transcript: true,
  on_screen_text: true,
  labels: true,
  evidence: true,
  metadata: true,
  thumbnail_url: true,
  clip_url: true,
});

const mcpStep = hitStep.omit({ similar_to: true, evidence: true }).extend({
  segment: mcpMoment.omit({ rank: true, score: true, evidence: true, metadata: true, title: true }),
});

export const mcpSearchResult = searchResult.extend({
  segments: z.array(mcpMoment.extend({ steps: z.array(mcpStep).optional() })),
  partial: partialField.optional(),
});

export const mcpAnswer = answerRecord.pick({ answer: true, grounded: true, partial: true }).extend({
  citations: z.array(mcpMoment.extend({ marker: z.int().min(1) })),
});

export const mcpIndexPage = pageOf(
  "indices",
  indexRecord.pick({
    index_name: true,
    description: true,
    metadata: true,
    counts: true,
    states: true,
    duration_seconds: true,
    created_at: true,
    updated_at: true,
  }),
);

export const mcpAssetPage = pageOf(
  "assets",
  assetRecord.pick({
    asset_id: true,
    asset_type: true,
    title: true,
    state: true,
    error: true,
    warnings: true,
    duration_seconds: true,
    language: true,
    segments: true,
    metadata: true,
    created_at: true,
    thumbnail_url: true,
    media_url: true,
  }),
);

export const mcpWatch = watchRecord.pick({
  watch_id: true,
  name: true,
  query: true,
  similar_to: true,
  has_image: true,
  min_probability: true,
  paused: true,
  matches: true,
  created_at: true,
});

export const mcpWatchPage = pageOf("watches", mcpWatch);

export const mcpMatchPage = pageOf("matches", matchRecord.extend({ segment: mcpMoment }));
