import { exports } from "cloudflare:workers";
import { inject, expect, it } from "vitest";
import { fuzz } from "../../bench/contract/fuzz.ts";
import { findUnreadable, seedAccount } from "../../bench/contract/seed-account.ts";
import document from "../../openapi.json" with { type: "json" };
import { fixture, newClient } from "../support/client.ts";

const FILES = { image: "words.jpg", video: "clip.mp4" };
const ORIGIN = "https://sightline.test";
/** For other values: `npm run eval -- contract --requests 5000 --seed 7` */
const [REQUESTS, SEED] = [360, 20_261_122];

it(`${REQUESTS} fuzzed requests to all endpoints violate no rule of the contract`, async () => {
  const client = await newClient();
  const send = (
    method: string,
    path: string,
    json?: object,
    headers: Record<string, string> = {},
  ) => client.send(method, path, { headers, ...(json && { json }) });
  const ids = await seedAccount(send, async (index, kind) => {
    const form = { [`${kind}_file`]: await fixture(FILES[kind]) };
    const added = await client.json("POST", `${index}/${kind}`, { form });
    if (kind === "image") await client.waitForAsset(index.split("/")[2]!, added);
    return added.asset_id;
  });
  const { violations, tallies } = await fuzz(
    {
      document,
      ids,
      origin: inject("filesOrigin"),
      send: ({ method, path, headers, body }, signal) =>
        exports.default.fetch(
          new Request(new URL(path, ORIGIN), {
            method,
            headers: { "x-api-key": client.key, ...headers },
            body,
            signal,
          }),
        ),
    },
    REQUESTS,
    SEED,
  );
  expect(violations).toEqual([]);
  expect(tallies.filter(({ requests }) => requests === 0)).toEqual([]);
  expect(await findUnreadable(send)).toEqual([]);
});
