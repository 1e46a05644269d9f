import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";

/**
 * Sends the transcripts of videos that were uploaded in parts: such an upload takes one file, and
 * the API takes a transcript once the video is ready. `show` shows a sentence to the user, and returns a
 * function that takes it away.
 */
export function openLateTranscripts(index, show) {
  const waiting = new Map();

  const send = async ({ asset_id: id, title }) => {
    const { transcript, dismiss } = waiting.get(id) ?? {};
    if (!transcript) return;
    const form = new FormData();
    form.append("transcript", transcript);
    const path = indexPath(index, ["video", id, "transcript"]);
    try {
      await api("POST", path, { form });
      show(`“${title}” now has the transcript ${transcript.name}.`);
    } catch (error) {
      show(`The transcript ${transcript.name} wasn't added to “${title}”. ${error.message}`);
    }
    dismiss?.();
    waiting.delete(id);
  };

  return {
    /** Sends a transcript as soon as its video is ready. */
    add(asset, transcript) {
      const isReady = asset.state === "ready";
      const text = `Keep this page open until “${asset.title}” is ready: its transcript follows then.`;
      waiting.set(asset.asset_id, { transcript, dismiss: isReady ? undefined : show(text) });
      if (isReady) void send(asset);
    },
    onReady: (asset) => void send(asset),
    isWaiting: () => waiting.size > 0,
  };
}
