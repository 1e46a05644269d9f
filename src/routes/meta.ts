import { z } from "@hono/zod-openapi";
import { addEndpoint, createRouter } from "./endpoint.ts";

/** About the service itself; no key needed. */
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
  async (c) => {
    await c.env.DB.prepare("SELECT 1 FROM accounts LIMIT 1").first();
    return { service: "sightline" as const, ok: true, version: VERSION };
  },
);

/** Of the interface, as in its OpenAPI document. */
export const VERSION = "0.1.0";
