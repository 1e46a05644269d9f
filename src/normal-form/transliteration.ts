/** Letters of Cyrillic and Greek by how they are written in Latin ones, the longest first. */
const LETTERS: Record<"cyrillic" | "greek", string> = {
  cyrillic: `shch щ|tch ч|sch щ|kh х|zh ж|ch ч|sh ш|ts ц|yu ю|ju ю|ya я|ja я|yo е|ye е є|iy ий|yi ї и
    |a а|b б|v в|w в|g г|d д|e е э|z з|i и і|j й|k к|l л|m м|n н|o о|p п|r р|s с|t т|u у|f ф|h г х
    |y ы и й|c к ц|x кс|q к`,
  greek: `th θ|ph φ|ch χ|kh χ|ps ψ|ou ου|ai αι ε|ei ει ι|oi οι ι|mp μπ|nt ντ|gk γκ|ts τσ|tz τζ|ng γγ
    |a α|b μπ β|v β|g γ|d δ|e ε η|z ζ|i ι η|k κ|l λ|m μ|n ν|x ξ|o ο ω|p π|r ρ|s σ|t τ|y υ|u ου υ|f φ
    |h η χ|w ω|c κ|j τζ|q κ`,
};
const MAX_WORDS = 256;

type Table = [latin: string, letters: string[]][];
const readTable = (lines: string): Table =>
  lines.split("|").map((line) => {
    const [latin = "", ...letters] = line.trim().split(" ");
    return [latin, letters];
  });
const TABLES = Object.values(LETTERS).map(readTable);

/** Returns what a folded name in Latin letters may be in Cyrillic and in Greek. */
function fromLatin(word: string): string[] {
  return TABLES.flatMap((table) => {
    let words = [""];
    for (let at = 0; at < word.length;) {
      const found = table.find(([latin]) => word.startsWith(latin, at));
      if (!found) return [];
      const [latin, letters] = found;
      words = words.flatMap((start) => letters.map((letter) => start + letter));
      if (words.length > MAX_WORDS) return [];
      at += latin.length;
    }
    return words;
  });
}

/** Returns what a folded name in Cyrillic or Greek may be in Latin letters. */
function toLatin(word: string): string[] {
  return TABLES.flatMap((table) => {
    let words = [""];
    for (let at = 0; at < word.length;) {
      const found = table.filter(([, letters]) => letters.some((one) => word.startsWith(one, at)));
      const longest = Math.max(...found.map(([, letters]) => lengthAt(letters, word, at)));
      const latin = found
        .filter(([, letters]) => lengthAt(letters, word, at) === longest)
        .map(([own]) => own);
      if (latin.length === 0) return [];
      words = words.flatMap((start) => latin.map((letters) => start + letters));
      if (words.length > MAX_WORDS) return [];
      at += longest;
    }
    return words;
  });
}

const lengthAt = (letters: readonly string[], word: string, at: number) =>
  Math.max(0, ...letters.filter((one) => word.startsWith(one, at)).map(({ length }) => length));

/** Returns what a folded name may be in other letters: Cyrillic, Greek or Latin. */
export function transliterate(word: string): string[] {
  if (/^[a-z]+$/.test(word)) return fromLatin(word);
  const letters = word.replaceAll(/[ьъ]/g, "");
  return /^[\p{Script=Cyrillic}\p{Script=Greek}]+$/u.test(letters) ? toLatin(letters) : [];
}
