import { afterEach, describe, expect, it } from "vitest";
import { askForAi, askForMedia } from "../../local/engine-client.ts";
import { errorOf, refusal } from "./bindings.ts";

const MODEL = "@cf/some/model";
const env = { ENGINE_URL: "http://127.0.0.1:1", ENGINE_TOKEN: "token" };
const realFetch = globalThis.fetch;

afterEach(() => {
  globalThis.fetch = realFetch;
});

/** The engine as it answers with one of its own errors. */
function answering(code: string, status: number): void {
  const error = { code, message: `it is ${code}` };
  globalThis.fetch = () => Promise.resolve(Response.json({ error }, { status }));
}

describe("an engine that is out of reach", () => {
  it("is an outage of Workers AI", async () => {
    expect(await errorOf(askForAi(env, MODEL, "/sentences", "{}"))).toMatchObject({
      name: "InferenceUpstreamError",
      message: "3040: Capacity temporarily exceeded, please try again.",
    });
  });

  it("is an internal error of Media Transformations", async () => {
    expect(await errorOf(askForMedia(env, "/media/probe", "x"))).toMatchObject({
      name: "MediaError",
      code: 9523,
      message: "MEDIA_TRANSFORM_ERROR 9523: internal error",
    });
  });
});

describe("an engine's own error", () => {
  it.for<[string, number, RegExp, RegExp]>([
    ["busy", 503, /^3040: /, /9504: it is busy/],
    ["too_large", 413, /^3006: /, /9402: it is too_large/],
    ["undecodable_image", 422, /^3010: /, /9523: internal error/],
    ["undecodable_media", 422, /^3010: .* audio$/, /9412: it is undecodable_media/],
    ["no_audio", 422, /^3010: .* audio$/, /9412: it is no_audio/],
    ["model_missing", 501, /^5007: No such model @cf\/some\/model or task$/, /9523: /],
    ["upstream_failed", 502, /^3040: /, /9523: /],
    ["upstream_refused", 422, /^3010: /, /9523: /],
    ["time_out_of_range", 422, /^3043: /, /9401: it is time_out_of_range/],
    ["unauthorized", 401, /^3043: Internal server error$/, /9523: internal error/],
  ])("%s", async ([code, status, ai, media]) => {
    answering(code, status);
    expect(await refusal(askForAi(env, MODEL, "/describe", "x"))).toMatch(ai);
    expect(await refusal(askForMedia(env, "/media/probe", "x"))).toMatch(media);
  });

  it("may have no words", async () => {
    globalThis.fetch = () => Promise.resolve(new Response("<html>", { status: 502 }));
    expect(await refusal(askForAi(env, MODEL, "/describe", "x"))).toMatch(/^3043: /);
  });
});
