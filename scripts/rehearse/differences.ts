/** A way in which a rehearsal differs from a deployment. */
export interface Difference {
  subject: string;
  rehearsal: string;
  production: string;
  /** Assumptions of the smoke test that a deployment checks for it. */
  assumptions: readonly string[];
}

/** All ways in which a rehearsal differs from a deployment, as far as we know. */
export const DIFFERENCES: readonly Difference[] = [
  {
    subject: "AI",
    rehearsal: "small models on this machine; replies of chats are made up; speech is scripted",
    production: "Workers AI: other vectors, captions, limits and delays",
    assumptions: [
      "A model describes a keyframe as JSON of the schema.",
      "The text of each scene is read on its keyframe.",
      "Speech is recognised, with times.",
      "Workers AI embeds images and texts in one space.",
    ],
  },
  {
    subject: "FRAMES",
    rehearsal: "FFmpeg on this machine, with the documented limits and errors",
    production: "Media Transformations, whose contact sheets aren't documented",
    assumptions: [
      "A contact sheet of FRAMES has its tiles row by row, all of one size.",
      "The tiles are the frames at the start of equal parts.",
      "FRAMES makes a contact sheet of 96 tiles over 48 s.",
      "A frame of FRAMES is the one at the time that was asked for.",
      "Cuts of a film are found, to half a second.",
    ],
  },
  {
    subject: "Decoder",
    rehearsal: "none: no container runs without Docker, and setup isn't asked for one",
    production: "containers, if setup was asked for them, a server at DECODER_URL, or none",
    assumptions: ["The decoder, where there is one, decodes the frame that was asked for."],
  },
  {
    subject: "IMAGES",
    rehearsal: "sharp on this machine, with the documented limits and errors",
    production: "Cloudflare Images",
    assumptions: [
      "Images reads the format and size of an image.",
      "Images refuses an image that is cut off with a code that means so.",
      "Images refuses an image of over 12,000 pixels in a row with a code that means so.",
    ],
  },
  {
    subject: "Vectorize",
    rehearsal: "exact search, which shows a write after seconds; VECTOR_LAG_SECONDS is as short",
    production: "approximate search, which shows a write after up to two minutes",
    assumptions: [
      "Vectorize finds a vector within 120 s.",
      "The score of Vectorize is the cosine, to 0.01.",
    ],
  },
  {
    subject: "D1 and objects",
    rehearsal: "SQLite in one process, without replicas, locations or limits of size and time",
    production: "a network away, with limits of statements, and of 10 GB for each database",
    assumptions: [
      "D1 takes 100 parameters, values of 2 MB and statements of 100 kB.",
      "D1 and the index's database take the largest search that the API takes.",
    ],
  },
  {
    subject: "Queues",
    rehearsal: "in memory and one message at a time; max_concurrency has no effect",
    production: "durable, many messages at a time, twice or late now and then",
    assumptions: ["Cuts of a film are found, to half a second."],
  },
  {
    subject: "Limits of a Worker",
    rehearsal: "none on memory, CPU time and subrequests",
    production: "128 MB; cpu_ms and subrequests of the configuration",
    assumptions: ["Cuts of a film are found, to half a second."],
  },
  {
    subject: "Cron trigger",
    rehearsal: "runs after each deployment, and when a step needs it",
    production: "runs each minute, from some minutes after a deployment on",
    assumptions: ["The cron trigger runs every minute."],
  },
  {
    subject: "Edge",
    rehearsal: "plain HTTP, no cache, and the largest body of most plans",
    production: "TLS, the zone's plan and rules, a cache on custom domains",
    assumptions: [
      "A body of over 100 MB reaches the Worker, or is refused with 413.",
      "The console is served with the headers of console/_headers.",
    ],
  },
  {
    subject: "Rate limits",
    rehearsal: "one counter for all requests",
    production: "a counter in each location of Cloudflare, which may count late",
    assumptions: ["Requests are counted against the rate limits."],
  },
  {
    subject: "Internet",
    rehearsal: "FETCH_ALLOW lets the Worker reach one server on this machine, and nothing else is",
    production: "FETCH_ALLOW is empty, and names are looked up by Cloudflare",
    assumptions: ["No private address is fetched."],
  },
];
