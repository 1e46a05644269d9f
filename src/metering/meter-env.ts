import type { AccountId } from "../ids.ts";
import type { DecoderContainers, ExternalDecoder } from "../media/decoder-request.ts";
import { limitCalls } from "../models/call-limiter.ts";
import type { CallPriority } from "../models/call-window.ts";
import type { CountName } from "../store/d1/usage.ts";
import type { DatabaseResult } from "../store/index-database/index-database.ts";
import { CostGate, setCostGate } from "./cost-gate.ts";
import { countCalls } from "./count-calls.ts";
import { guardBucket } from "./guard-bucket.ts";
import { type InvocationCalls, newInvocationCalls } from "./invocation-calls.ts";
import { meterAi } from "./meter-ai.ts";
import { meterDatabase } from "./meter-database.ts";
import { type Count, type CountUsage, usageMeter } from "./usage-meter.ts";

/**
 * Returns an environment whose bindings count what they do for an account, and in `calls`, and
 * whose model calls are limited. Requests, messages and jobs of an account do all their work with
 * one. Its bindings hold the account to its quotas: nothing is stored that isn't charged, and no
 * billed call is made before `costGate` admits it. Calls that the limiter refuses aren't counted.
 */
export function meterEnv(
  env: Env,
  accountId: AccountId,
  priority: CallPriority,
  calls = newInvocationCalls(),
): Env {
  const gate = new CostGate(accountId);
  const record = countInto(calls, usageMeter(accountId).count);
  const count: Count = (name, increment) => {
    gate.require(name);
    record(name, increment);
  };
  const metered = {
    ...countEnv(env, count, accountId),
    FRAMES: countCalls(env.FRAMES, () => {
      count("frames", 1);
      count("subrequests", 1);
    }),
    IMAGES: countCalls(env.IMAGES, (name) => {
      if (name === "input") count("images", 1); // `info` is free
      count("subrequests", 1);
    }),
  };
  const guarded = { ...metered, AI: limitCalls(meterAi(env.AI, count), metered, priority) };
  setCostGate(guarded, gate);
  return guarded;
}

/** Returns an environment whose bindings count their calls, but for models and decoders. */
export function countInvocation(env: Env, calls: InvocationCalls): Env {
  return countEnv(
    env,
    countInto(calls, () => {}),
    null,
  );
}

function countInto(calls: InvocationCalls, countUsage: CountUsage): Count {
  return (name, count) => {
    if (name === "modelCalls") calls.subrequests += count;
    if (name === "queries" || name === "subrequests") calls[name] += count;
    else countUsage(name, count);
  };
}

/** Returns an environment whose bindings count what they do, but for models and decoders. */
function countEnv(env: Env, count: Count, accountId: AccountId | null): Env {
  const DB = meterDatabase(env.DB, count);
  const { DECODER }: ExternalDecoder = env;
  const countSubrequest = () => count("subrequests", 1);
  const vectors = Object.entries(env)
    .filter(([name]) => /^(TEXT|IMAGE)_VECTORS_\d+$/.test(name))
    .map(([name, index]) => [name, meterVectors(index as VectorizeIndex, count)]);
  return {
    ...env,
    ...(Object.fromEntries(vectors) as Pick<Env, "TEXT_VECTORS_1" | "IMAGE_VECTORS_1">),
    DB,
    MEDIA: guardBucket(meterBucket(env.MEDIA, count), DB, accountId),
    INGEST: countCalls(env.INGEST, countSubrequest),
    JOBS: countCalls(env.JOBS, countSubrequest),
    MEDIA_INDEX: meterObjects(env.MEDIA_INDEX, count),
    INDEX_DATABASE: meterObjects(env.INDEX_DATABASE, count),
    MODEL_LIMITER: meterObjects(env.MODEL_LIMITER, count),
    ...(DECODER && { DECODER: countFetches(DECODER, count) }),
  };
}

/** Wraps the containers of the decoder to count their requests. */
function countFetches(containers: DecoderContainers, count: Count): DecoderContainers {
  return {
    getByName: (name) =>
      countCalls(containers.getByName(name), () => {
        count("objectRequests", 1);
        count("subrequests", 1);
      }),
  };
}

/** Wraps a Vectorize index to count the vectors written and the dimensions queried. */
function meterVectors(index: VectorizeIndex, count: Count): VectorizeIndex {
  return countCalls(index, (name, [argument]) => {
    count("subrequests", 1);
    const lengthOf = () => (argument as ArrayLike<unknown>).length;
    if (name === "query") count("dimensionsQueried", lengthOf());
    if (name === "upsert") count("vectorsWritten", lengthOf());
  });
}

/** Which operations a method is billed as (R2, class B and A). Deletions are free. */
const OPERATIONS: Readonly<Record<string, CountName>> = {
  head: "bucketReads",
  get: "bucketReads",
  list: "bucketWrites",
  put: "bucketWrites",
  createMultipartUpload: "bucketWrites",
  uploadPart: "bucketWrites",
  complete: "bucketWrites",
};

/** Wraps a bucket to count its operations, also of its multipart uploads. */
function meterBucket(bucket: R2Bucket, count: Count): R2Bucket {
  const onCall = (name: string) => {
    if (name !== "resumeMultipartUpload") count("subrequests", 1); // that makes no call
    const operation = OPERATIONS[name];
    if (operation) count(operation, 1);
  };
  const meterUpload = (upload: R2MultipartUpload) => countCalls(upload, onCall);
  return countCalls(bucket, onCall, {
    createMultipartUpload: async (...args: Parameters<R2Bucket["createMultipartUpload"]>) =>
      meterUpload(await bucket.createMultipartUpload(...args)),
    resumeMultipartUpload: (...args: Parameters<R2Bucket["resumeMultipartUpload"]>) =>
      meterUpload(bucket.resumeMultipartUpload(...args)),
  });
}

/** Wraps a namespace of Durable Objects to count calls, and the rows that their results tell. */
function meterObjects<Class extends Rpc.DurableObjectBranded>(
  namespace: DurableObjectNamespace<Class>,
  count: Count,
): DurableObjectNamespace<Class> {
  const getByName = (name: string): DurableObjectStub<Class> => {
    const stub = namespace.getByName(name);
    return new Proxy(stub, {
      get(_, method) {
        const value: unknown = Reflect.get(stub, method);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]): Promise<unknown> => {
          count("objectRequests", 1);
          count("subrequests", 1);
          const result: unknown = await Reflect.apply(value, stub, args);
          if (hasRows(result)) {
            count("rowsRead", result.rowsRead);
            count("rowsWritten", result.rowsWritten);
          }
          return result;
        };
      },
    });
  };
  return { getByName } as DurableObjectNamespace<Class>;
}

function hasRows(result: unknown): result is DatabaseResult<unknown> {
  return typeof result === "object" && result !== null && "rowsRead" in result;
}
