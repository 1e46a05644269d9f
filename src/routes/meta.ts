import { z } from "@hono/zod-openapi";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter } from "../http/endpoint.ts";
import { probeDatabase } from "../store/accounts.ts";

/** Version of the API, also in its OpenAPI document. */
export const VERSION = "0.1.0";

/** Routes about the service itself. They need no API key. */
export const metaRoutes = createRouter("Service");

addEndpoint(
  metaRoutes,
  {
    method: "get",
    path: "/health",
    summary: "Health",
    scope: null,
    response: z
      .object({ service: z.literal("sightline"), ok: z.boolean(), version: z.string() })
      .openapi("Health"),
  },
  getHealth,
);

async function getHealth(c: Context) {
  await probeDatabase(c.env.DB);
  return { service: "sightline" as const, ok: true, version: VERSION };
}
