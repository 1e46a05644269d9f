type Ids = Record<string, string>;

/** Something of everything, for requests to be about: ids by name. */
export async function makeWorld(
  ask: (
    method: string,
    path: string,
    json?: object,
    headers?: Record<string, string>,
  ) => Promise<Response>,
  add: (path: string, kind: "image" | "video") => Promise<string>,
): Promise<Ids> {
  const create = async (path: string, json: object) => {
    const response = await ask("POST", path, json);
    if (!response.ok) throw new Error(`POST ${path} → ${response.status}`);
    return (await response.json()) as Ids & { segments?: { segment_id: string }[] };
  };
  const settings = { webhook_url: "https://hooks.a.example/x" };
  await create("/index", { index_name: "world", settings });
  await create("/index", { index_name: "doomed" });
  const [image, doomed] = [await add("/index/world", "image"), await add("/index/doomed", "image")];
  const video = await add("/index/world", "video");
  const source = await create("/index/world/videonet/url", { url: "https://a.example/nothing" });
  const { key_id } = await create("/keys", { name: "doomed", scopes: ["read"] });
  const { job_id } = await create("/index/world/traverse", {});
  const upload = await ask("POST", "/index/world/uploads", undefined, {
    "tus-resumable": "1.0.0",
    "upload-length": "10",
  });
  const found = await create("/index/world/search", { similar_to: image });
  const segment = found.segments?.[0];
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

/** What of all that is there can't be read any more: nothing, whatever was sent before. */
export async function findUnreadable(
  ask: (method: string, path: string) => Promise<Response>,
): Promise<string[]> {
  const unreadable: string[] = [];
  const walk = async (path: string, list: string): Promise<Record<string, unknown>[]> => {
    const items: Record<string, unknown>[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const response: Response = await ask(
        "GET",
        `${path}?limit=100${cursor && `&cursor=${cursor}`}`,
      );
      if (response.status !== 200) {
        unreadable.push(`${path} → ${response.status}`);
        return items;
      }
      const page = (await response.json()) as Record<string, unknown>;
      items.push(...(page[list] as Record<string, unknown>[]));
      cursor = page["next_cursor"] as string | null;
    }
    return items;
  };
  await Promise.all([walk("/jobs", "jobs"), walk("/keys", "keys")]);
  for (const { index_name } of await walk("/index", "indices")) {
    const path = `/index/${String(index_name)}`;
    await walk(path, "assets");
    await walk(`${path}/sources`, "sources");
    await walk(`${path}/traverse`, "nodes");
  }
  return unreadable;
}
