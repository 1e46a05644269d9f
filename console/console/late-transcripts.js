import { indexPath, upload } from "./api.js";

/**
 * Sends the transcripts of videos that were uploaded in parts: such an upload takes one file, and
 * the API takes a transcript once the video is ready. `onResult` gets a sentence for the user.
 */
export function openLateTranscripts(index, onResult) {
  const waiting = new Map();

  const send = async ({ asset_id: id, title }) => {
    const transcript = waiting.get(id);
    if (!transcript) return;
    const form = new FormData();
    form.append("transcript", transcript);
    const path = indexPath(index, `/video/${encodeURIComponent(id)}/transcript`);
    const options = { onProgress: () => {}, signal: new AbortController().signal };
    try {
      await upload(path, form, options);
      onResult(`“${title}” now has the transcript ${transcript.name}.`);
    } catch (error) {
      onResult(`The transcript ${transcript.name} wasn't added to “${title}”. ${error.message}`);
    }
    waiting.delete(id);
  };

  return {
    /** Sends a transcript as soon as its video is ready. */
    add(asset, transcript) {
      waiting.set(asset.asset_id, transcript);
      if (asset.state === "ready") void send(asset);
      else
        onResult(
          `Keep this page open until “${asset.title}” is ready: its transcript follows then.`,
        );
    },
    onReady: (asset) => void send(asset),
    isWaiting: () => waiting.size > 0,
  };
}
