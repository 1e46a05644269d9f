import type { EdgeFacts } from "./edge.ts";

/** An assumption about what stands before the Worker, and what starts it beside requests. */
export interface EdgeAssumption {
  assumption: string;
  essential: boolean;
  remedy: string;
  check: (edge: EdgeFacts) => { holds: boolean; seen: string } | { unchecked: string };
}

/** Age at which the last run of a trigger that is due every minute is late. */
const MAX_SWEEP_SECONDS = 300;

export const EDGE_ASSUMPTIONS: readonly EdgeAssumption[] = [
  {
    assumption: "The cron trigger runs every minute.",
    essential: true,
    remedy: "Lost work isn't resumed: Settings, Trigger Events of the Worker in the dashboard",
    check: ({ sweep }) => {
      if (sweep === "unknown") return { unchecked: "the key lacks the scope operator" };
      return {
        holds: sweep !== null && sweep.secondsAgo <= MAX_SWEEP_SECONDS,
        seen: sweep === null ? "it never ran" : `it last ran ${sweep.secondsAgo.toFixed(0)} s ago`,
      };
    },
  },
  {
    assumption: "The console is served with the headers of console/_headers.",
    essential: true,
    remedy: "Browsers don't confine the console's scripts: [assets] in wrangler.toml",
    check: ({ console: { status, hasHeaders } }) => ({
      holds: status === 200 && hasHeaders,
      seen: `status ${status}, ${hasHeaders ? "with" : "without"} Content-Security-Policy`,
    }),
  },
  {
    assumption: "Requests are counted against the rate limits.",
    essential: true,
    remedy: "One client can crowd out the others: [[ratelimits]] of the environment's file",
    check: ({ rateLimitPolicy }) => ({
      holds: rateLimitPolicy !== null,
      seen: rateLimitPolicy ?? "no header RateLimit-Policy",
    }),
  },
  {
    assumption: "No private address is fetched.",
    essential: true,
    remedy: "A stranger reads what only you may: FETCH_ALLOW of the environment's file",
    check: ({ fetchable }) => ({
      holds: fetchable.length === 0,
      seen: fetchable.join(", ") || "each was refused",
    }),
  },
  {
    assumption: "A body of over 100 MB reaches the Worker, or is refused with 413.",
    essential: false,
    remedy: "Clients get another error: the zone's plan, and MAX_BODY_MB in docs/deploy.md",
    check: ({ largeBody }) => {
      if (!largeBody) return { unchecked: "only with --large-body" };
      const { status, byWorker } = largeBody;
      return { holds: byWorker || status === 413, seen: `status ${status}` };
    },
  },
];
