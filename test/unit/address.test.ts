import { describe, expect, it } from "vitest";
import { requirePublicUrl } from "../../src/fetching/address.ts";
import { PUBLIC, REFUSED } from "../addresses.ts";

describe("a URL", () => {
  it.each(PUBLIC)("is public: %j", (url, asked) => {
    expect(requirePublicUrl(url, "").host).toBe(asked);
  });

  const refused = Object.entries(REFUSED).flatMap(([why, urls]) =>
    urls.map((url): [string, string] => [why, url]),
  );
  it.each(refused)("is refused as %s: %j", (_, url) => {
    expect(() => requirePublicUrl(url, "")).toThrow(
      expect.objectContaining({ code: "blocked_address" }),
    );
  });

  it("is exempt by host and port only", () => {
    const allowed = "127.0.0.1:9000,files.internal:80,127.0.0.1:25";
    expect(requirePublicUrl("http://127.0.0.1:9000/a.mp4", allowed).port).toBe("9000");
    expect(requirePublicUrl("http://0x7f.1:25/a.mp4", allowed).port).toBe("25");
    expect(() => requirePublicUrl("http://127.0.0.1:9001/a.mp4", allowed)).toThrow();
    expect(() => requirePublicUrl("http://127.0.0.1:9000@127.0.0.1/", allowed)).toThrow();
    expect(() => requirePublicUrl("http://a:b@127.0.0.1:9000/", allowed)).toThrow();
    expect(() => requirePublicUrl("ftp://127.0.0.1:9000/", allowed)).toThrow();
    expect(() => requirePublicUrl("http://localhost/", "")).toThrow();
    expect(() => requirePublicUrl("http://", "")).toThrow();
  });
});
