import { Busboy } from "@fastify/busboy";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../src/config.ts";
import { readParts } from "../../src/http/multipart.ts";
import { type Client, newClient, uniqueFixture } from "../support/client.ts";
import { waitUntil } from "../support/wait.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "b" } });
});

describe("a form", () => {
  const textFields = (count: number): [string, string][] =>
    Array.from({ length: count }, (_, i) => [`field-${i}`, "x"]);
  const fileFields = (count: number): [string, File][] =>
    Array.from({ length: count }, (_, i) => [`file-${i}`, new File(["x"], "x")]);

  it.each<[string, [string, string | File][], RegExp]>([
    ["with more than 20 fields", textFields(21), /more than 20 fields/],
    ["with more than 5 files", fileFields(6), /more than 5 files/],
    [
      "with a field above the size limit",
      [["metadata_str", `"${"x".repeat(2 ** 20)}"`]],
      /"metadata_str"/,
    ],
  ])("%s returns 413", async (_, parts, message) => {
    const form = new FormData();
    for (const [name, value] of parts) form.append(name, value);
    form.append("image_file", await uniqueFixture("truncated.jpg"));
    const response = await client.send("POST", "/index/b/image", { body: form });
    expect(response.status).toBe(413);
    const { detail } = await response.json<{ detail: string }>();
    expect(detail).toMatch(message);
  });

  const headers = { "content-type": "multipart/form-data; boundary=x" };
  const encode = (text: string) => new TextEncoder().encode(text);
  const textPart = '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n';

  /** Reads a form with a body and returns the message of the error. */
  async function refuseForm(body: BodyInit): Promise<string> {
    const request = new Request("http://sightline.test/", { method: "POST", body, headers });
    const reading = readParts(request, async () => undefined);
    return reading.then(
      () => "none",
      (error: Error) => error.message,
    );
  }

  it.each([
    ["without a name", "--x\r\ncontent-disposition: form-data\r\n\r\n1\r\n"],
    ["of another disposition", "--x\r\ncontent-disposition: inline\r\n\r\n1\r\n"],
    ["without a disposition", "--x\r\ncontent-type: text/plain\r\n\r\n1\r\n"],
    ["without headers", "--x\r\n\r\n1\r\n"],
  ])("with more than 25 parts %s returns 413", async (_, part) => {
    const call = { body: encode(`${part.repeat(26)}--x--\r\n`), headers };
    const response = await client.send("POST", "/index/b/image", call);
    expect(response.status).toBe(413);
    const { detail } = await response.json<{ detail: string }>();
    expect(detail).toMatch(/^The form has more than (20 fields|25 parts)\.$/);
  });

  it.each([
    ["in one chunk", [50_000]],
    ["in many chunks", Array.from({ length: 500 }, () => 100)],
  ])("with 50,000 fields %s is parsed no further than its first 400", async (_, chunkSizes) => {
    const parse = vi.spyOn(Busboy.prototype, "write");
    try {
      expect(
        await refuseForm(streamOf(chunkSizes.map((size) => encode(textPart.repeat(size))))),
      ).toBe("The form has more than 20 fields.");
      const parsedBytes = parse.mock.calls.map(([bytes]) => (bytes as Uint8Array).length);
      const total = parsedBytes.reduce((sum, bytes) => sum + bytes, 0);
      expect(total).toBeGreaterThan(20 * textPart.length);
      expect(total).toBeLessThan(400 * textPart.length);
    } finally {
      parse.mockRestore();
    }
  });

  it("with bytes behind its end is accepted", async () => {
    const end = encode("--x--\r\n");
    const chunks = [encode(textPart), end, encode("\r\n"), encode("epilogue")];
    const body = streamOf(chunks);
    const request = new Request("http://sightline.test/", { method: "POST", body, headers });
    expect([...(await readParts(request, async () => undefined))]).toEqual([["a", "1"]]);
  });

  it("that is refused is discarded up to LIMITS.drainBytes, and then closed", async () => {
    const chunk = encode(textPart.repeat(1000));
    let sentBytes = 0;
    const cancel = vi.fn<() => void>();
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sentBytes += chunk.length;
        controller.enqueue(chunk); // without end
      },
      cancel,
    });
    expect(await refuseForm(body)).toBe("The form has more than 20 fields.");
    expect(sentBytes).toBeGreaterThan(LIMITS.drainBytes);
    expect(sentBytes).toBeLessThan(LIMITS.drainBytes + 10 * chunk.length);
    await waitUntil(() => cancel.mock.calls.length === 1);
  });

  it("that is refused while its client sends nothing more is closed after LIMITS.drainMs", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const cancel = vi.fn<() => void>();
      const start = (controller: ReadableStreamDefaultController<Uint8Array>) =>
        controller.enqueue(encode(textPart.repeat(30)));
      const refused = refuseForm(new ReadableStream<Uint8Array>({ start, cancel }));
      for (let i = 0; i < 1000 && vi.getTimerCount() === 0; i++) await Promise.resolve();
      await vi.advanceTimersByTimeAsync(LIMITS.drainMs - 1);
      expect(cancel).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      expect(await refused).toBe("The form has more than 20 fields.");
      expect(cancel).toHaveBeenCalledOnce();
    } finally {
      vi.useRealTimers();
    }
  });

  it.each([
    ["as browsers escape it", "a %22b%22 c%0D%0Ad.jpg", 'a "b" c d.jpg'],
    ["as others escape it", String.raw`a \"b\" c.jpg`, 'a "b" c.jpg'],
    ["with other percent signs", "100%25 %2F %220 %0d é.jpg", '100%25 %2F "0 %0d é.jpg'],
    ["with folders", "C:\\x\\a%22b.jpg", 'a"b.jpg'],
  ])("with a file name %s has it as the title", async (_, name, title) => {
    const body = await new Blob([
      `--x\r\ncontent-disposition: form-data; name="image_file"; filename="${name}"\r\n\r\n`,
      await uniqueFixture("truncated.jpg"),
      "\r\n--x--\r\n",
    ]).arrayBuffer();
    const asset = await client.json("POST", "/index/b/image", { body, headers });
    expect(asset).toMatchObject({ title });
  });

  it("with a file whose name has quotes, of FormData, has it as the title", async () => {
    const file = new File([await uniqueFixture("truncated.jpg")], '6" nails "new".jpg');
    const asset = await client.json("POST", "/index/b/image", { form: { image_file: file } });
    expect(asset).toMatchObject({ title: '6" nails "new".jpg' });
  });

  it("with 20 fields and 5 files is accepted", async () => {
    const form = new FormData();
    for (const [name, value] of [...textFields(20), ...fileFields(4)]) form.append(name, value);
    form.append("image_file", await uniqueFixture("truncated.jpg"));
    const asset = await client.json("POST", "/index/b/image", { body: form });
    expect(asset).toMatchObject({ duplicate: false });
  });
});

function streamOf(chunks: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}
