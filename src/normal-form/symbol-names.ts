/** "AT&T", and letters with spaces, "R & B". */
const NAME_WITH_AND =
  /^([a-z]{1,3}(?=&)|[a-z](?= & [a-z](?![a-z\d])))(?: & |&)([a-z]{1,3})(?![a-z\d])/i;

/** The same in words: "AT and T", "Q and A", but not "you and I". */
const NAME_IN_WORDS = /^([a-z]{1,2}) and ([b-hj-z]|(?<=^[b-z] and )a)(?![a-z\d])/i;

/** Symbols within names, as letters: "P!nk", "Ke$ha". */
const LETTERS: Record<string, string> = { "!": "i", $: "s" };

/** What is behind a letter that begins a name such as "R & B", "C plus plus" and "AT and T". */
const NAME_FOLLOWS = /^ (?:& |and |plus)/i;

/** Tests whether a short run of letters that ends at `end` may begin a name. */
export function mayBeginName(text: string, run: string, end: number): boolean {
  return run.length < 3 && NAME_FOLLOWS.test(text.slice(end, end + 5));
}

/** A name as one term, and where it is in the text. */
interface SymbolName {
  term: string;
  start: number;
  end: number;
}

/** Reads a name with symbols that has the `run` of letters: "C++", "C#", ".NET", "AT&T". */
export function readSymbolName(
  text: string,
  run: string,
  { start, end }: { start: number; end: number },
): SymbolName | null {
  const after = text.slice(end, end + 2);
  const letter = run.toLowerCase();
  const isLetter = /^[a-z]$/.test(letter);
  const [spelled] = (isLetter && /^ plus plus(?![a-z\d])/i.exec(text.slice(end, end + 12))) || [];
  if (spelled) return { term: `${letter}plusplus`, start, end: end + spelled.length };
  if (isLetter && after === "++") return { term: `${letter}plusplus`, start, end: end + 2 };
  if (isLetter && after.startsWith("#") && !/[\p{L}\p{N}]/u.test(after[1] ?? "")) {
    return { term: `${letter}sharp`, start, end: end + 1 };
  }
  if (letter === "net" && /(?:^|[\s(])\.$/.test(text.slice(Math.max(0, start - 2), start))) {
    return { term: "dotnet", start: start - 1, end };
  }
  const [, symbol = "", rest = ""] = /^([!$])(\p{L}{2,20})/u.exec(text.slice(end, end + 21)) ?? [];
  if (rest !== "" && run.length < 4) {
    return {
      term: letter + LETTERS[symbol]! + rest.toLowerCase(),
      start,
      end: end + 1 + rest.length,
    };
  }
  const following = text.slice(start, start + 10);
  const name = NAME_WITH_AND.exec(following) ?? NAME_IN_WORDS.exec(following);
  if (!name || name[1] !== run) return null;
  const term = `${name[1]}and${name[2]!}`.toLowerCase();
  return { term, start, end: start + name[0].length };
}
