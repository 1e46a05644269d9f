import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { streamForm } from "../../tools/multipart-stream.ts";

it("a streamed form contains its fields and files unchanged", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sightline-form-"));
  const path = join(folder, 'a "quoted" näme.bin');
  const bytes = Buffer.from(Array.from({ length: 700_000 }, (_, i) => (i * 31) % 256));
  writeFileSync(path, bytes);
  let sent = 0;
  const fields = [
    { name: "metadata_str", text: '{"a": "ü"}' },
    { name: "video_file", path },
  ];
  const { body, contentType } = streamForm(fields, (count) => (sent = count));
  const form = await new Response(body, { headers: { "content-type": contentType } }).formData();
  expect(form.get("metadata_str")).toBe('{"a": "ü"}');
  const file = form.get("video_file") as File;
  expect(file.name).toBe('a "quoted" näme.bin');
  expect(Buffer.from(await file.arrayBuffer()).equals(bytes)).toBe(true);
  expect(sent).toBeGreaterThan(bytes.length);
  rmSync(folder, { recursive: true });
});
