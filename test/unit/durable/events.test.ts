import { describe, expect, it } from "vitest";
import {
  changeEventType,
  eventFrame,
  openingFrame,
  toAssetEventData,
} from "../../../src/durable/events.ts";
import { type AssetId, eventId, eventSeq, type IndexId, trustedId } from "../../../src/ids.ts";
import { begin, claim, complete, fail, type IngestState } from "../../../src/ingest/state.ts";

const INDEX = trustedId<IndexId>("ind_01K9ABCDEFGHJKMNPQRSTVWXYZ");
const OTHER = trustedId<IndexId>("ind_01K9ABCDEFGHJKMNPQRSTVWXY0");

describe("an event id", () => {
  it("sorts as text and has a fixed format", () => {
    const ids = [0, 1, 9, 10, 99, 1e6].map((seq) => eventId(INDEX, seq));
    expect(ids.toSorted()).toEqual(ids);
    expect(ids[1]).toBe("evt_01K9ABCDEFGHJKMNPQRSTVWXYZ_0000000001");
  });

  it.each<[string, number | null]>([
    [eventId(INDEX, 0), 0],
    [eventId(INDEX, 12_345_678_901), 12_345_678_901],
    [eventId(OTHER, 1), null],
    ["evt_01K9ABCDEFGHJKMNPQRSTVWXYZ_1", null],
    ["evt_01K9ABCDEFGHJKMNPQRSTVWXYZ_00000000010", null],
    ["", null],
    ["42", null],
  ])("%s has the number %s", (id, seq) => {
    expect(eventSeq(INDEX, id)).toBe(seq);
  });
});

describe("a server-sent event", () => {
  it("has a line per field and ends with an empty line", () => {
    expect(openingFrame("evt_1")).toBe("retry: 1000\nid: evt_1\n\n");
    expect(eventFrame({ id: "evt_2", type: "asset.updated", payload: "{}" })).toBe(
      "id: evt_2\nevent: asset.updated\ndata: {}\n\n",
    );
  });
});

describe("the event of a state transition", () => {
  const part = { step: "fetch", part: 0 } as const;
  const queued = begin("image", 0);
  const fetching = claim(queued, part, 0)!;
  const segmenting = complete(fetching, part, undefined, 0)!;
  const failed = fail(segmenting, "segment", { code: "not_an_image", message: "No image." })!;

  it.each<[IngestState | undefined, IngestState, string | undefined]>([
    [undefined, queued, "asset.updated"],
    [queued, queued, undefined],
    [queued, fetching, "asset.updated"],
    [segmenting, failed, "asset.failed"],
    [failed, queued, "asset.updated"],
  ])("has its type by public state and progress: case %#", (before, after, type) => {
    expect(changeEventType(before, after)).toBe(type);
  });

  it("has the progress before the failure", () => {
    const row = {
      assetId: trustedId<AssetId>("img_1"),
      assetType: "image",
      jobId: null,
      revision: 3,
    } as const;
    expect(toAssetEventData({ ...row, state: failed }, segmenting)).toEqual({
      asset_id: "img_1",
      asset_type: "image",
      state: "failed",
      progress: 0.071,
      error: { code: "not_an_image", message: "No image." },
      job_id: null,
    });
  });
});
