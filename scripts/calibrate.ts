import { join } from "node:path";
import { parseArgs } from "node:util";
import { AppError } from "../src/errors.ts";
import { embeddingModels } from "../src/search/calibration.ts";
import { type CalibrationEntry, type EmbeddingModels, nearestEntry } from "../src/search/fuse.ts";
import {
  CALIBRATIONS_FILE,
  readCalibrations,
  storeCalibrations,
} from "../tools/calibration/calibrations-file.ts";
import {
  fitText,
  judgeArchive,
  makeEntry,
  splitQueries,
  textError,
} from "../tools/deployment-calibration/fit-deployment.ts";
import {
  type EmbeddingCost,
  embedMaterial,
  estimateCost,
  generateMaterial,
  type Material,
} from "../tools/deployment-calibration/material.ts";
import { openCloudflare } from "./cloudflare/api.ts";
import { readEnvironment } from "./cloudflare/environment-config.ts";
import { openWorkersAi } from "./cloudflare/workers-ai.ts";
import { confirm, runCommand, UsageError, withUsageErrors } from "./command-line.ts";

const USAGE = `Usage: npm run calibrate -- --env NAME [options]

Fits how cosines become probabilities to the embedding models of an environment, and stores the
result in ${CALIBRATIONS_FILE}, which the next deployment uses. It is fitted on a generated
archive: scenes told in sentences and, with an image model, drawings. Their vectors come from
Workers AI through its REST API. Shows the cost and asks first.

  --env NAME      the environment, such as production
  --dry-run       only show the cost
  --yes           don't ask
  --help          print this help

Environment:
  CLOUDFLARE_API_TOKEN    a token with the permission "Workers AI: Read"
  CLOUDFLARE_ACCOUNT_ID   the account (default: that of wrangler.NAME.toml)
  IMAGE_EMBEDDINGS_KEY    key of the server of IMAGE_EMBEDDINGS_URL, if the environment has one
`;

/** Stored parameters are rounded. */
const ERROR_TOLERANCE = 0.001;
/** Variables of an environment that name its embedding models. */
type ModelVars = Pick<
  Env,
  "TEXT_EMBEDDINGS_MODEL" | "IMAGE_EMBEDDINGS_URL" | "IMAGE_EMBEDDINGS_MODEL"
>;

async function main(): Promise<void> {
  const values = readArguments();
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const { env: environment } = values;
  if (environment === undefined) throw new UsageError("--env NAME is missing.");
  const { current } = await readEnvironment(process.cwd(), environment);
  if (!current) throw new Error(`Run this first: npm run setup -- --env ${environment}`);
  const api = openCloudflare(current.account_id);
  const vars = readModelVars(current.vars);
  const models = embeddingModels(vars);
  const key = process.env["IMAGE_EMBEDDINGS_KEY"];
  const env = { ...vars, AI: openWorkersAi(api), ...(key && { IMAGE_EMBEDDINGS_KEY: key }) };

  const material = await generateMaterial(models.image !== null);
  const cost = estimateCost(env, material);
  console.log(describeCost(environment, api.accountId, models, cost));
  if (values["dry-run"]) {
    console.log("Nothing was called: this was a dry run.");
    return;
  }
  if (!values.yes && !(await confirm("Calibrate?"))) throw new Error("Nothing was changed.");

  const vectors = await embedMaterial(env, material, logProgress).catch(throwUnchanged);
  const judged = await judgeArchive(models.text, material.archive, vectors.texts);
  const [toFit, toMeasure] = splitQueries(judged);
  const file = join(process.cwd(), CALIBRATIONS_FILE);
  const entries = await readCalibrations(file);
  const known = nearestEntry(entries.filter(isOfEngine), models);
  const text = fitText(known, toFit);
  const before = textError(nearestEntry(entries, models), toMeasure);
  const after = textError(text, toMeasure);
  console.log(
    "Expected calibration error of queries that nothing was fitted on:\n" +
      `  ${before.toFixed(3)} with the present parameters, ${after.toFixed(3)} with fitted ones`,
  );
  if (after > before + ERROR_TOLERANCE) {
    throw new Error(`The present parameters are better. ${UNCHANGED}`);
  }
  const about = { models, source: describeSource(material) };
  const fitted = makeEntry(about, known, text, vectors.drawings);
  await storeCalibrations(file, [fitted]);
  console.log(`
Stored in ${CALIBRATIONS_FILE}. Commit the file to your copy of the repository.
Next: npm run deploy -- --env ${environment}`);
}

/** Tests for an entry of the offline engine, as the first one is: they know what people wrote. */
function isOfEngine({ models }: CalibrationEntry, _: number, [first]: CalibrationEntry[]) {
  return models.text === first!.models.text;
}

const UNCHANGED = `${CALIBRATIONS_FILE} is unchanged.`;

function readModelVars(vars: Record<string, unknown>): ModelVars {
  const read = (name: keyof ModelVars) => {
    const value = vars[name];
    return typeof value === "string" ? value : "";
  };
  return {
    TEXT_EMBEDDINGS_MODEL: read("TEXT_EMBEDDINGS_MODEL"),
    IMAGE_EMBEDDINGS_URL: read("IMAGE_EMBEDDINGS_URL"),
    IMAGE_EMBEDDINGS_MODEL: read("IMAGE_EMBEDDINGS_MODEL"),
  };
}

function describeCost(
  environment: string,
  accountId: string,
  { text, image }: EmbeddingModels,
  { textCount, textTokens, drawingCount, usd }: EmbeddingCost,
): string {
  const imageModel = image === null ? "" : ` and ${image || "the server's image model"}`;
  const drawings = image === null ? "" : `, and ${drawingCount} drawings`;
  return `Calibrates "${environment}" in the account ${accountId} for ${text}${imageModel}.
Embeds ${textCount} texts of about ${textTokens} tokens${drawings}: at most $${formatUsd(usd)}.
`;
}

/** Rounds up to a hundredth of a cent. */
function formatUsd(usd: number): string {
  return (Math.ceil(usd * 10_000) / 10_000).toFixed(4);
}

function describeSource({ archive, drawings }: Material): string {
  const scenes = `${archive.segments.length} generated scenes`;
  const drawn = drawings.length === 0 ? "" : ` and ${drawings.length} drawings`;
  return `${scenes}${drawn}, after the entry of the offline models`;
}

let shown = 0;
/** Prints every fifth of the way. */
function logProgress(done: number, total: number): void {
  const share = Math.floor((5 * done) / total);
  if (share > shown) console.log(`  ${done} of ${total} embedded`);
  shown = Math.max(share, shown);
}

/** Throws an error that says what the model answered, and that nothing was stored. */
function throwUnchanged(error: unknown): never {
  const told = error instanceof Error ? error.message : String(error);
  const answered = error instanceof AppError && error.cause instanceof Error;
  const reasons = answered ? [told, (error.cause as Error).message] : [told];
  throw new Error([...reasons, UNCHANGED].join("\n"), { cause: error });
}

function readArguments() {
  const options = {
    env: { type: "string" },
    "dry-run": { type: "boolean" },
    yes: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  } as const;
  return withUsageErrors(() => parseArgs({ options })).values;
}

await runCommand(main, USAGE);
