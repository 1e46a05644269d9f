import { OpenAPIRegistry, OpenApiGeneratorV31 } from "@asteasolutions/zod-to-openapi";
import { ROUTERS } from "../../src/app.ts";
import { VERSION } from "../../src/config.ts";
import { describeEndpoint, registerErrors } from "./describe-endpoint.ts";

const DESCRIPTION = `Search and question answering over indices of videos and images.

**First steps.** Create an index (\`createIndex\`), add a video or an image (\`addVideo\`,
\`addImage\`), wait until its \`state\` is \`ready\` (\`getVideo\`, \`streamEvents\`), then search
(\`searchIndex\`) and ask (\`answerFromText\`).

**Conventions.** JSON is snake_case. Positions and durations are seconds, sizes bytes, moments in
time RFC 3339 in UTC. A \`null\` field is the same as none. Unknown fields are ignored,
but those that are nearly known ones are a 422. Lists take \`limit\` (1 to 100, default 50) and
\`cursor\`, and return \`total\`, \`next_cursor\` and the items under their plural: \`videos\`,
\`jobs\`, \`watches\`. Every response has the header \`X-Request-Id\`.

**Errors.** 422 lists every issue of a request in \`detail\`, as FastAPI does. Every other error has
a sentence in \`detail\` that says what is wrong and what to do. 429 and 503 may carry
\`Retry-After\`. A repeated request with the same \`Idempotency-Key\` creates nothing twice.`;

/** What the OpenAPI document says of the whole API. Tags are in the order of a first use. */
const INFO = {
  info: {
    title: "Sightline",
    version: VERSION,
    description: DESCRIPTION,
    license: { name: "MIT", identifier: "MIT" },
  },
  servers: [{ url: "/", description: "The deployment that serves this document." }],
  tags: [
    { name: "Indices", description: "Named collections of videos and images." },
    { name: "Videos and images", description: "Adding, reading, changing and deleting assets." },
    { name: "Resumable uploads", description: "Uploads of any size that survive interruptions." },
    { name: "Transcripts", description: "What is said in a video, with times." },
    { name: "Imports", description: "Videos and images of other platforms." },
    { name: "Search", description: "Finding segments with words, an image or a clip." },
    { name: "Watches", description: "Queries that announce each new segment that matches." },
    { name: "Judgments", description: "What is relevant, and how right the scores are." },
    { name: "Answers", description: "Answers to questions, with moments that prove them." },
    { name: "Jobs", description: "Work in the background." },
    { name: "Events", description: "Changes of an index, as a stream and by webhooks." },
    { name: "Traversal", description: "Checking and repairing what is stored." },
    { name: "Archives", description: "Moving an index between deployments." },
    { name: "Account", description: "The account, its API keys, usage and costs." },
    { name: "Service", description: "The service itself." },
  ],
};

/** Returns the OpenAPI document, made from the schemas that validate the requests. */
export function openApiDocument() {
  const registry = new OpenAPIRegistry();
  for (const { tag, endpoints } of ROUTERS) {
    for (const endpoint of endpoints) registry.registerPath(describeEndpoint(endpoint, tag));
  }
  registry.registerComponent("securitySchemes", "ApiKey", {
    type: "apiKey",
    in: "header",
    name: "X-API-Key",
    description: "An API key. The first one of an account is made by `npm run key`.",
  });
  registerErrors(registry);
  const generator = new OpenApiGeneratorV31(registry.definitions);
  const document = generator.generateDocument({ ...INFO, openapi: "3.1.0" });
  for (const { parameters = [] } of Object.values(document.paths ?? {}).flatMap(Object.values)) {
    for (const { schema } of parameters) delete schema.description; // that of the parameter
  }
  return document;
}
