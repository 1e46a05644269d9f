type Ids = Record<string, string>;

/**
 * Creates one record of every kind and returns their ids by placeholder name. Ids named `doomed_…`
 * are for requests that delete.
 */
export async function seedAccount(
  request: (
    method: string,
    path: string,
    json?: object,
    headers?: Record<string, string>,
  ) => Promise<Response>,
  addMedia: (path: string, kind: "image" | "video") => Promise<string>,
): Promise<Ids> {
  const create = async (path: string, json: object) => {
    const response = await request("POST", path, json);
    if (!response.ok) throw new Error(`POST ${path} → ${response.status}`);
    return (await response.json()) as Ids & { segments?: { segment_id: string }[] };
  };
  const settings = { webhook_url: "https://hooks.a.example/x" };
  await create("/index", { index_name: "world", settings });
  await create("/index", { index_name: "doomed" });
  const [image, doomed] = [
    await addMedia("/index/world", "image"),
    await addMedia("/index/doomed", "image"),
  ];
  const video = await addMedia("/index/world", "video");
  const source = await create("/index/world/videonet/url", { url: "https://a.example/nothing" });
  const { key_id } = await create("/keys", { name: "doomed", scopes: ["read"] });
  const { job_id } = await create("/index/world/traverse", {});
  const upload = await request("POST", "/index/world/uploads", undefined, {
    "tus-resumable": "1.0.0",
    "upload-length": "10",
  });
  const searchResult = await create("/index/world/search", { similar_to: image });
  const segment = searchResult.segments?.[0];
  const upload_id = upload.headers.get("location")?.split("/").at(-1) ?? "upl_none";
  return {
    index_name: "world",
    image_id: image,
    video_id: video,
    job_id: job_id!,
    key_id: key_id!,
    source_id: source["source_id"]!,
    upload_id,
    segment: segment?.segment_id ?? "seg_none",
    cursor: btoa(image).replaceAll("=", ""),
    doomed_index_name: "doomed",
    doomed_image_id: doomed,
    doomed_video_id: "vid_none",
    doomed_job_id: job_id!,
    doomed_key_id: key_id!,
    doomed_source_id: "src_none",
    doomed_upload_id: upload_id,
  };
}

/** Lists the collections that can't be read any more after the run. Must be empty. */
export async function findUnreadable(
  request: (method: string, path: string) => Promise<Response>,
): Promise<string[]> {
  const unreadable: string[] = [];
  const listAll = async (path: string, field: string): Promise<Record<string, unknown>[]> => {
    const items: Record<string, unknown>[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const response: Response = await request(
        "GET",
        `${path}?limit=100${cursor && `&cursor=${cursor}`}`,
      );
      if (response.status !== 200) {
        unreadable.push(`${path} → ${response.status}`);
        return items;
      }
      const page = (await response.json()) as Record<string, unknown>;
      items.push(...(page[field] as Record<string, unknown>[]));
      cursor = page["next_cursor"] as string | null;
    }
    return items;
  };
  await Promise.all([listAll("/jobs", "jobs"), listAll("/keys", "keys")]);
  for (const { index_name } of await listAll("/index", "indices")) {
    const path = `/index/${String(index_name)}`;
    await listAll(path, "assets");
    await listAll(`${path}/sources`, "sources");
    await listAll(`${path}/traverse`, "nodes");
  }
  return unreadable;
}
