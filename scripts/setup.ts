import { parseArgs } from "node:util";
import { openCloudflare } from "./cloudflare/api.ts";
import {
  type DecoderChoice,
  DOCKER_MISSING,
  findDecoder,
  hasDocker,
  needsDocker,
} from "./cloudflare/decoder-config.ts";
import { readEnvironment } from "./cloudflare/environment-config.ts";
import {
  applyPlan,
  describePlan,
  hasProblem,
  isComplete,
  planSetup,
  type SetupPlan,
} from "./cloudflare/provision.ts";
import { type Location, LOCATIONS } from "./cloudflare/resources.ts";
import { confirm, runCommand, UsageError, withUsageErrors } from "./command-line.ts";

const USAGE = `Usage: npm run setup -- --env NAME [options]

Creates what an environment needs on Cloudflare, and writes wrangler.NAME.toml. Shows the plan and
asks first. Changes nothing that is there, so it may run any number of times.

  --env NAME              the environment: lowercase letters and digits, such as production
  --location REGION       where a new database and bucket are: ${LOCATIONS.join(", ")}
                          (default: Cloudflare chooses, near you)
  --image-dimensions N    dimensions of the image embedding model (default 1024)
  --decoder               run the decoder of other formats in containers (docs/operate.md): built by
                          Docker at each deployment
  --decoder-image NAME    the same from a published image, such as docker.io/me/decoder:1, without
                          Docker
  --no-decoder            run no containers any more
  --dry-run               only show the plan
  --yes                   don't ask
  --help                  print this help

Environment:
  CLOUDFLARE_API_TOKEN    a token with the permissions of docs/deploy.md
  CLOUDFLARE_ACCOUNT_ID   the account (default: that of wrangler.NAME.toml)
`;

const MAX_DIMENSIONS = 1536; // limit of Vectorize

async function main(): Promise<void> {
  const values = readArguments();
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const { env: environment } = values;
  if (environment === undefined) throw new UsageError("--env NAME is missing.");
  const options = {
    location: readLocation(values.location),
    imageDimensions: readDimensions(values["image-dimensions"] ?? "1024"),
    decoder: readDecoder(values),
  };
  const folder = process.cwd();
  const { current } = await readEnvironment(folder, environment);
  const api = openCloudflare(current?.account_id);
  const plan = await planSetup(api, folder, environment, options);
  console.log(
    `Plan for "${environment}" in the account ${api.accountId}:\n\n${describePlan(plan)}\n`,
  );
  console.log(describeDecoder(plan));
  if (hasProblem(plan)) throw new Error("Nothing was changed, because a resource differs.");
  if (isComplete(plan)) console.log("Nothing is missing.");
  else if (values["dry-run"]) console.log("Nothing was changed: this was a dry run.");
  else if (values.yes || (await confirm("Create what is missing?"))) {
    await applyPlan(api, plan, (line) => console.log(line));
    console.log(formatNextSteps(environment, plan));
  } else throw new Error("Nothing was changed.");
}

function readArguments() {
  const options = {
    env: { type: "string" },
    location: { type: "string" },
    "image-dimensions": { type: "string" },
    decoder: { type: "boolean" },
    "decoder-image": { type: "string" },
    "no-decoder": { type: "boolean" },
    "dry-run": { type: "boolean" },
    yes: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  } as const;
  return withUsageErrors(() => parseArgs({ options })).values;
}

function readLocation(text: string | undefined): Location | null {
  if (text === undefined) return null;
  const location = LOCATIONS.find((one) => one === text);
  if (location) return location;
  throw new UsageError(`--location must be one of ${LOCATIONS.join(", ")}, not "${text}".`);
}

/** An image with its registry, and a tag or digest. */
const IMAGE = /^[a-z\d-]+(?:\.[a-z\d-]+)+\/[\w./-]+(?::[\w.-]+|@sha256:[\da-f]{64})$/;

function readDecoder(values: ReturnType<typeof readArguments>): DecoderChoice {
  const { decoder, "decoder-image": image, "no-decoder": removed } = values;
  if (removed && (decoder || image !== undefined)) {
    throw new UsageError("--no-decoder removes what --decoder adds: give one of them.");
  }
  if (removed) return null;
  if (image === undefined) return decoder ? "dockerfile" : undefined;
  if (IMAGE.test(image)) return { image };
  throw new UsageError(
    `--decoder-image must have a registry and a tag, such as docker.io/me/decoder:1, not "${image}".`,
  );
}

function readDimensions(text: string): number {
  const dimensions = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (dimensions >= 1 && dimensions <= MAX_DIMENSIONS) return dimensions;
  throw new UsageError(`--image-dimensions must be 1 to ${MAX_DIMENSIONS}, not "${text}".`);
}

/** Returns a paragraph about the decoder's containers; empty without them. */
function describeDecoder({ config }: SetupPlan): string {
  const container = findDecoder(config);
  if (!container) return "";
  const { image, max_instances: count, instance_type: type } = container;
  const isMissing = needsDocker(container) && !hasDocker();
  const advice = isMissing ? `\n${DOCKER_MISSING}` : "";
  return `Decoder: up to ${count} containers (${JSON.stringify(type)}) of ${image}.${advice}\n`;
}

function formatNextSteps(environment: string, { resources, secretsFile }: SetupPlan): string {
  const isNewSecret = resources.some(
    ({ resource, action }) => resource.kind === "secret" && action === "create",
  );
  const advice = `
KEY_SECRETS is in ${secretsFile}, which only you can read. Cloudflare never returns it.
Copy it to a vault: you need it to create API keys, and whoever has it can create them, too.
`;
  return `${isNewSecret ? advice : ""}
Next: npm run deploy -- --env ${environment}`;
}

await runCommand(main, USAGE);
