import { expect, it } from "vitest";
import { NotFoundError, Sightline } from "../../../client/src/index.ts";

it("the events of an index go on after the last event when a stream breaks or ends", async () => {
  const event = (n: number) =>
    `id: evt_${n}\ndata: ${JSON.stringify({ type: "asset.updated" })}\n\n`;
  const broken = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode(`id: evt_0\n\n${event(1)}`)),
    pull: (controller) => controller.error(new Error("connection lost")),
  });
  const responses = [
    new Response(broken),
    new Response(event(2)),
    Response.json({ detail: "There is no such index." }, { status: 404 }),
  ];
  const sent: (string | null)[] = [];
  const sightline = new Sightline({
    url: "https://sightline.test",
    apiKey: "k",
    fetch: async (_, init) => {
      sent.push(new Headers(init.headers).get("Last-Event-ID"));
      return responses.shift()!;
    },
  });
  let openCount = 0;
  const onOpen = () => (openCount += 1);
  const ids: string[] = [];
  const follow = async () => {
    for await (const { id } of sightline.index("trip").events({ onOpen })) ids.push(id);
  };
  await expect(follow()).rejects.toBeInstanceOf(NotFoundError);
  expect(ids).toEqual(["evt_1", "evt_2"]);
  expect(sent).toEqual([null, "evt_1", "evt_2"]);
  expect(openCount).toBe(2);
});
