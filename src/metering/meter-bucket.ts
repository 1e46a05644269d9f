import type { CountName } from "../store/usage.ts";
import type { Count } from "./usage-meter.ts";
import { countCalls } from "./count-calls.ts";

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
export function meterBucket(bucket: R2Bucket, count: Count): R2Bucket {
  const onCall = (name: string) => {
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
