import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { type SegmentVector, upsertVectors } from "../src/store/vectors.ts";
import { errorOf } from "./local/bindings.ts";

it("vectors of another length than the index takes are refused once and for all, in words", async () => {
  const segment = { segmentId: "seg_1", indexId: "ind_1", assetId: "img_1", startMs: null };
  const vector = { segment, kind: "picture", values: [1, 0, 0], model: "tiny" } as SegmentVector;
  const error = await errorOf(upsertVectors(env.PICTURE_VECTORS, [vector], "image"));
  expect(error).toMatchObject({ code: "model_refused" });
  expect(error.message).toMatch(/tiny have 3 dimensions/);
});
