import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";

/**
 * Sends the requests of the form for a watch. Words and examples of the index are previewed as they
 * are. An image is previewed as a stored, paused watch, which is then the one that is created.
 */
export function openDraft(index) {
  /** The stored watch of an image, `{ id, key, file }`. */
  let stored = null;

  const watchPath = (...rest) => indexPath(index, ["watches", ...rest]);

  const post = (fields, file) => {
    if (!file) return api("POST", watchPath(), { body: fields });
    const form = new FormData();
    form.append("watch", JSON.stringify(fields));
    form.append("image_file", file);
    return api("POST", watchPath(), { form });
  };

  const isStored = (key, file) => stored?.key === key && stored.file === file;

  const removeStored = async () => {
    if (!stored) return;
    const { id } = stored;
    stored = null;
    try {
      await api("DELETE", watchPath(id));
    } catch (error) {
      if (error.status !== 404) throw error;
    }
  };

  /** Stores the watch of an image, or changes its settings if it is stored. Resolves to its id. */
  const store = async ({ request, settings, file }) => {
    const key = JSON.stringify(request);
    if (isStored(key, file)) {
      await api("PATCH", watchPath(stored.id), { body: { webhook_url: null, ...settings } });
      return stored.id;
    }
    await removeStored();
    const { watch_id: id } = await post({ ...request, ...settings }, file);
    stored = { id, key, file };
    return id;
  };

  return {
    /** Starts a preview. Resolves to the id of its job. */
    async preview({ request, settings, file }) {
      const body = { ...request, min_probability: settings.min_probability };
      if (!file) return (await api("POST", watchPath("preview"), { body })).job_id;
      const id = await store({ request, settings: { ...settings, paused: true }, file });
      return (await api("POST", watchPath(id, "preview"))).job_id;
    },
    /** Creates the watch. Resolves to its id. */
    async create({ request, settings, file }) {
      if (file) return store({ request, settings: { ...settings, paused: false }, file });
      await removeStored();
      return (await post({ ...request, ...settings })).watch_id;
    },
  };
}
