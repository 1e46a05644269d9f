import { messageOf } from "../shared/api-error.js";

/**
 * Sends transcripts to videos that the index has already: of uploads in parts, which take one file,
 * of files that are added again, and of transcripts that come alone. `show` shows a sentence to the
 * user, and returns a function that takes it away.
 */
export function openLateTranscripts(index, show) {
  const waiting = new Map();
  let sending = 0;

  const attempt = async (name, work) => {
    sending += 1;
    try {
      show(await work(await import("../transcripts/add-transcript.js")));
    } catch (error) {
      show(`The transcript ${name} wasn't added. ${messageOf(error)}`);
    }
    sending -= 1;
  };

  const send = async (asset) => {
    const { transcript, dismiss } = waiting.get(asset.asset_id) ?? {};
    if (!transcript) return;
    waiting.delete(asset.asset_id);
    await attempt(transcript.name, ({ addTranscript }) => addTranscript(index, asset, transcript));
    dismiss?.();
  };

  return {
    /** Sends a transcript as soon as its video is ready. */
    add(asset, transcript) {
      const isReady = asset.state === "ready";
      const text = `Keep this page open until “${asset.title}” is ready: its transcript follows then.`;
      waiting.set(asset.asset_id, { transcript, dismiss: isReady ? undefined : show(text) });
      if (isReady) void send(asset);
    },
    /** Sends a transcript, `{ file, path }`, to the video of the index that has its name. */
    addByName: ({ file, path }) =>
      attempt(file.name, ({ addByName }) => addByName(index, { file, path })),
    onReady: (asset) => void send(asset),
    isWaiting: () => waiting.size > 0 || sending > 0,
  };
}
