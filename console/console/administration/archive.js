import { indexPath } from "../shared/api-path.js";
import { api, apiResponse } from "../shared/api.js";
import { el, errorNotice, announce } from "../shared/element.js";
import { count } from "../shared/wording.js";
import { archiveParts, exportLines, readLines } from "./archive-parts.js";
import { followJob } from "./job-progress.js";

/** Opens the export of an index as an archive, and the import of one. */
export function openArchive(index) {
  const progress = el("div.stack.tight");
  const media = el("input", { type: "checkbox", checked: true });
  const exportButton = el("button", { type: "button" }, "Prepare the archive");
  const file = el("input", { type: "file", id: "archive-file", accept: ".ndjson" });
  const importButton = el("button", { type: "button", disabled: true }, "Import the archive");

  const attempt = async (button, work) => {
    button.disabled = true;
    try {
      await work();
    } catch (error) {
      progress.replaceChildren(errorNotice(error));
    }
    button.disabled = false;
  };
  const setProgress = (text) => progress.replaceChildren(el("p.facts", {}, text));

  exportButton.addEventListener("click", () =>
    attempt(exportButton, async () => {
      const lines = [];
      for await (const line of exportLines((after) => readExport(index, media.checked, after))) {
        lines.push(`${line}\n`);
        if (lines.length % 20 === 0) setProgress(`${lines.length} lines read…`);
      }
      progress.replaceChildren(downloadLink(index, lines));
      progress.querySelector("a").focus();
      announce("The archive is ready to download.");
    }),
  );

  file.addEventListener("change", () => (importButton.disabled = file.files.length === 0));
  importButton.addEventListener("click", () =>
    attempt(importButton, async () => {
      const text = file.files[0].stream().pipeThrough(new TextDecoderStream());
      progress.replaceChildren();
      for await (const lines of archiveParts(readLines(text))) {
        const part = el("div.stack.tight", {}, el("p.facts", {}, "Sending…"));
        progress.append(part);
        const { job_id: id } = await sendPart(index, lines);
        await followJob(part, id);
      }
      if (progress.childElementCount === 0) setProgress("This file has no archive in it.");
    }),
  );

  return el(
    "section.panel.stack.tight",
    {},
    el("h2", {}, "Export and import"),
    el(
      "p.hint",
      {},
      "An archive has the records, texts and times of an index: import it into another one, here or elsewhere. It names the files by URLs that work for an hour.",
    ),
    el("label.tick", {}, media, "With the URLs of the files"),
    el("div.row", {}, exportButton),
    el("label", { for: "archive-file" }, "Archive to import (.ndjson)"),
    file,
    el("div.row", {}, importButton),
    progress,
  );
}

async function* readExport(index, media, after) {
  const target = indexPath(index, ["export"], { media, ...(after && { after }) });
  const response = await apiResponse("GET", target);
  yield* readLines(response.body.pipeThrough(new TextDecoderStream()));
}

function sendPart(index, lines) {
  const body = lines.join("\n");
  return api("POST", indexPath(index, ["import-archive"]), { body, type: "application/x-ndjson" });
}

function downloadLink(index, lines) {
  const url = URL.createObjectURL(new Blob(lines, { type: "application/x-ndjson" }));
  const assets = count(lines.length - 2, "video or image", "videos and images");
  return el(
    "p",
    {},
    el("a", { href: url, download: `${index}.ndjson` }, "Download the archive"),
    ` (${assets})`,
  );
}
