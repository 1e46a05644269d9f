import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { type SegmentVector, upsertVectors } from "../src/store/vectors.ts";
import { errorOf } from "./local/bindings.ts";

it("upserting vectors of other dimensions than the index fails with a clear message", async () => {
  const segment = { segmentId: "seg_1", indexId: "ind_1", assetId: "img_1", startMs: null };
  const vector = { segment, kind: "image", values: [1, 0, 0], model: "tiny" } as SegmentVector;
  const error = await errorOf(upsertVectors(env.IMAGE_VECTORS_1, [vector], "image"));
  expect(error).toMatchObject({ code: "model_request_rejected" });
  expect(error.message).toMatch(/tiny have 3 dimensions/);
});
