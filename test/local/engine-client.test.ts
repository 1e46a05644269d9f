import { afterEach, describe, expect, it } from "vitest";
import { requestAi, requestMedia } from "../../local/engine-client.ts";
import { errorOf, rejectionMessage } from "./bindings.ts";

const MODEL = "@cf/some/model";
const env = { ENGINE_URL: "http://127.0.0.1:1", ENGINE_TOKEN: "token" };
const realFetch = globalThis.fetch;

afterEach(() => {
  globalThis.fetch = realFetch;
});

/** Stubs an engine that returns an error. */
function stubEngine(code: string, status: number): void {
  const error = { code, message: `it is ${code}` };
  globalThis.fetch = () => Promise.resolve(Response.json({ error }, { status }));
}

describe("an unreachable engine", () => {
  it("is an outage of Workers AI", async () => {
    expect(await errorOf(requestAi(env, MODEL, "/sentences", "{}"))).toMatchObject({
      name: "InferenceUpstreamError",
      message: "3040: Capacity temporarily exceeded, please try again.",
    });
  });

  it("is an internal error of Media Transformations", async () => {
    expect(await errorOf(requestMedia(env, "/media/probe", "x"))).toMatchObject({
      name: "Error",
      message: "MEDIA_TRANSFORM_ERROR 9523: internal error",
    });
  });
});

describe("an error code of the engine", () => {
  it.for<[string, number, RegExp, RegExp]>([
    ["busy", 503, /^3040: /, /9504: it is busy/],
    ["too_large", 413, /^3006: /, /9402: it is too_large/],
    ["undecodable_image", 422, /^3010: /, /9523: internal error/],
    ["undecodable_media", 422, /^3010: .* audio$/, /9412: it is undecodable_media/],
    ["no_audio", 422, /^3010: .* audio$/, /9412: it is no_audio/],
    [
      "model_not_found",
      501,
      /^5007: No such model @cf\/some\/model or task\. it is model_not_found$/,
      /9523: /,
    ],
    ["upstream_failed", 502, /^3040: /, /9523: /],
    ["upstream_refused", 422, /^3010: /, /9523: /],
    ["time_out_of_range", 422, /^3043: /, /9401: it is time_out_of_range/],
    ["unauthorized", 401, /^3043: Internal server error$/, /9523: internal error/],
  ])("%s becomes the errors of production", async ([code, status, ai, media]) => {
    stubEngine(code, status);
    expect(await rejectionMessage(requestAi(env, MODEL, "/describe", "x"))).toMatch(ai);
    expect(await rejectionMessage(requestMedia(env, "/media/probe", "x"))).toMatch(media);
  });

  it("that is missing becomes an internal error of Workers AI", async () => {
    globalThis.fetch = () => Promise.resolve(new Response("<html>", { status: 502 }));
    expect(await rejectionMessage(requestAi(env, MODEL, "/describe", "x"))).toMatch(/^3043: /);
  });
});
