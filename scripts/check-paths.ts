/**
 * Checks that paths of the API have one builder in the client, and one in the console: other text
 * that becomes a path could contain `..`, which makes it another path.
 */
const BUILDERS = new Set([
  "client/src/api-path.ts",
  "client/src/cli/export/otio.ts", // the name of a file
]);

/** Returns a sentence for each file that encodes or concatenates an id into a path itself. */
export function findLoosePaths(files: Iterable<readonly [file: string, text: string]>): string[] {
  return [...files].flatMap(([file, text]) => {
    const isLoose = /encodeURI(?:Component)?\(|[`"]\/(?:index|jobs|keys)\/[$"]/.test(text);
    return isLoose && !BUILDERS.has(file)
      ? [`${file} makes a path of text: use ${file.endsWith(".ts") ? "ApiPath" : "apiPath"}`]
      : [];
  });
}
