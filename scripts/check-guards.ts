/**
 * Lists every line of `src/` that writes to R2 or makes a billed call, and what holds it to the
 * quotas of an account. A new one has to be added here, and so to be thought about.
 */

type Guards = Record<string, string>;

const BUCKET = "guardBucket: charged before it is written";
const GATE = "CostGate: by the count of its binding";

/** Writes to R2, by file and declaration. */
const WRITES: Guards = {
  "src/metering/guard-bucket.ts guardBucket": "the guard itself",
  "src/metering/guard-bucket.ts chargeParts": "the guard itself",
  "src/ingest/upload-writer.ts UploadWriter": "allocatePartNumber: charged to the upload",
  "src/store/r2/frame-signatures.ts putArchivedSignatures": BUCKET,
  "src/store/r2/object-keys.ts putObject": BUCKET,
  "src/store/r2/reference-frames.ts putReferenceFrames": BUCKET,
  "src/store/r2/streams.ts storeStream": BUCKET,
  "src/store/transcripts.ts putCues": BUCKET,
  "src/store/transcripts.ts putRecognized": BUCKET,
  "src/store/d1/uploads.ts createMultipart": "allocatePartNumber: charged to the upload",
  "src/store/d1/uploads.ts putTail": "allocatePartNumber: charged to the upload",
  "src/store/d1/uploads.ts resumeMultipart": "allocatePartNumber: charged to the upload",
  "src/store/r2/window-analysis.ts putAnalysisBytes": BUCKET,
  "src/store/r2/window-analysis.ts putWindowAnalysis": BUCKET,
};

/** Other stores with a method `put`. */
const OTHER_STORES = /(?:\bkv|caches\.default|#assets)\.put\(/;
const WRITE = /\.(?:put|createMultipartUpload|resumeMultipartUpload|uploadPart)\(/;

/** Billed calls, by file and declaration. */
const CALLS: Guards = {
  "src/media/frames.ts transform": GATE,
  "src/media/pixels/decode-image.ts decodeByImages": GATE,
  "src/media/pixels/mask.ts foregroundMask": GATE,
  "src/models/call-limiter.ts limitCalls": GATE,
  "src/models/run.ts callModel": GATE,
  "src/store/vectorize/vector-pairs.ts scopeVectors": GATE,
  "src/store/vectorize/vectors.ts queryVectors": GATE,
};

const CALL = /\bai\.run\(|\bAI\.run\(|\.input\(|\bspace\.query\(|\.queryById\(/;

/** Code that makes an environment out of the platform's bindings, which aren't guarded. */
const ENVIRONMENTS: Guards = {
  "src/http/context.ts meterRequest": "requests",
  "src/lifecycle/sweep.ts sweep": "the cron: no billed calls and no writes",
  "src/queues/leased-work.ts withMetering": "messages",
};

const ENVIRONMENT = /\b(?:meterEnv|countInvocation)\(/;

const DECLARATION = /^(?:export )?(?:async )?(?:function\*?|class|const|interface|type) (\w+)/;

/** Returns a sentence for each line without a known guard, and each entry that isn't needed. */
export function findUnguarded(files: Iterable<readonly [file: string, text: string]>): string[] {
  const kinds = [
    { found: findLines(files, WRITE, OTHER_STORES), guards: WRITES, kind: "writes to R2" },
    { found: findLines(files, CALL), guards: CALLS, kind: "makes a billed call" },
    { found: findLines(files, ENVIRONMENT), guards: ENVIRONMENTS, kind: "meters an environment" },
  ];
  return kinds.flatMap(({ found, guards, kind }) => {
    const unknown = [...found].filter((declaration) => !(declaration in guards));
    const unused = Object.keys(guards).filter((declaration) => !found.has(declaration));
    return unknown
      .map((declaration) => `${declaration} ${kind}: name its guard in check-guards.ts`)
      .concat(unused.map((declaration) => `scripts/check-guards.ts: ${declaration} is not needed`));
  });
}

/** Names the declarations that have a line which matches `pattern`, but not `except`. */
function findLines(
  files: Iterable<readonly [file: string, text: string]>,
  pattern: RegExp,
  except?: RegExp,
): Set<string> {
  const found = new Set<string>();
  for (const [file, text] of files) {
    let name = "";
    for (const line of text.split("\n")) {
      name = DECLARATION.exec(line)?.[1] ?? name;
      const isCode =
        !/^\s*(?:\*|\/\*|\/\/)/.test(line) && !/^(?:export )?(?:async )?function /.test(line);
      if (isCode && pattern.test(line) && !except?.test(line)) found.add(`${file} ${name}`);
    }
  }
  return found;
}
