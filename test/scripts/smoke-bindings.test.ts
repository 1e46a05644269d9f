import { describe, expect, it } from "vitest";
import { type BindingRecord, readEmbeddings } from "../../scripts/smoke/bindings.ts";

type Reply = BindingRecord["image_embeddings"][number];

function embedded(form: string, input: string, dimensions: number | null): Reply {
  return { form, input, value: { dimensions, outline: {} }, error: null };
}
function refused(form: string, input: string, code: string): Reply {
  return { form, input, value: null, error: { code, meaning: "model_not_found" } };
}

describe("image embeddings that a deployment's model answered", () => {
  it.each<[string, Reply[], number | null]>([
    ["are none without a model", [refused("input", "text", "5007")], null],
    ["have the length of both", [embedded("a", "text", 1024), embedded("a", "image", 1024)], 1024],
    ["may be of two forms", [embedded("a", "text", 768), embedded("b", "image", 768)], 768],
    ["are none if only texts are embedded", [embedded("a", "text", 1024)], null],
    [
      "are none if an output has none",
      [embedded("a", "text", 9), embedded("a", "image", null)],
      null,
    ],
    ["are none if lengths differ", [embedded("a", "text", 9), embedded("a", "image", 8)], null],
  ])("%s", (_, replies, dimensions) => {
    const record = { image_embeddings: replies } as BindingRecord;
    expect(readEmbeddings(record).dimensions).toBe(dimensions);
  });

  it("are reported with each form and refusal", () => {
    const replies = [refused("input", "text", "5007"), embedded("messages", "image", 1024)];
    expect(readEmbeddings({ image_embeddings: replies } as BindingRecord).seen).toBe(
      "text as input: refused with 5007 (model_not_found), image as messages: 1024 dimensions",
    );
  });
});
