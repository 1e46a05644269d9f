import { apiPath, indexPath } from "../shared/api-path.js";

const LARGEST_PAGE = 100;

/**
 * Looks up a record for each path parameter, by GET requests only: an index, and a ready video, a
 * ready image, an unfinished upload, a watch and a job. Takes the index `preferred` if it exists, else the
 * first one with a ready asset, else the first one. What the account doesn't have, or what the API
 * key may not read, is undefined. Rejects if the indices can't be listed. `get` resolves to the JSON
 * of a target.
 */
export async function findRecords(get, preferred) {
  const { indices } = await get(apiPath(["index"], { limit: LARGEST_PAGE }));
  const index =
    indices.find(({ index_name: name }) => name === preferred) ??
    indices.find(({ states }) => states.ready > 0) ??
    indices[0];
  const firstOf = async (target, list) => {
    const page = await get(target).catch(() => null);
    return page?.[list][0];
  };
  const firstBelow = (list, segments, query) =>
    index && firstOf(indexPath(index.index_name, segments, { ...query, limit: 1 }), list);
  const [job, video, image, upload, watch] = await Promise.all([
    firstOf(apiPath(["jobs"], { limit: 1 }), "jobs"),
    firstBelow("assets", [], { type: "video", state: "ready" }),
    firstBelow("assets", [], { type: "image", state: "ready" }),
    firstBelow("uploads", ["uploads"], {}),
    firstBelow("watches", ["watches"], {}),
  ]);
  const hasWebhook = ({ settings }) => Boolean(settings.webhook_url);
  const records = {
    index_name: index,
    webhook_index_name: [index, ...indices].find((one) => one && hasWebhook(one)),
    video_id: video,
    image_id: image,
    upload_id: upload,
    watch_id: watch,
    job_id: job,
  };
  return { names: indices.map(({ index_name: name }) => name), records };
}
