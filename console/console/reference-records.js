const LARGEST_PAGE = 100;

/**
 * Looks up a record for each path parameter, by GET requests only: an index, and a ready video, a
 * ready image, an unfinished upload and a job. Takes the index `preferred` if it exists, else the
 * first one with a ready asset, else the first one. What the account doesn't have, or what the API
 * key may not read, is undefined. Rejects if the indices can't be listed. `get` resolves to the JSON
 * of a path.
 */
export async function findRecords(get, preferred) {
  const { indices } = await get(`/index?limit=${LARGEST_PAGE}`);
  const index =
    indices.find(({ index_name: name }) => name === preferred) ??
    indices.find(({ states }) => states.ready > 0) ??
    indices[0];
  const firstOf = async (path, list) => {
    const page = await get(path).catch(() => null);
    return page?.[list][0];
  };
  const path = index && `/index/${encodeURIComponent(index.index_name)}`;
  const [job, video, image, upload] = await Promise.all([
    firstOf("/jobs?limit=1", "jobs"),
    path && firstOf(`${path}?type=video&state=ready&limit=1`, "assets"),
    path && firstOf(`${path}?type=image&state=ready&limit=1`, "assets"),
    path && firstOf(`${path}/uploads?limit=1`, "uploads"),
  ]);
  const hasWebhook = ({ settings }) => Boolean(settings.webhook_url);
  const records = {
    index_name: index,
    webhook_index_name: [index, ...indices].find((one) => one && hasWebhook(one)),
    video_id: video,
    image_id: image,
    upload_id: upload,
    job_id: job,
  };
  return { names: indices.map(({ index_name: name }) => name), records };
}
