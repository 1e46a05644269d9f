const LABEL = String.raw`[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}_-]*[\p{L}\p{M}\p{N}])?`;
const HOST = String.raw`${LABEL}(?:\.${LABEL})*\.\p{L}[\p{L}\p{M}\p{N}-]+`;
const ADDRESS = String.raw`(?:\d{1,3}(?:\.\d{1,3}){3}|(?=[\d:]*(?:[a-f]|::))(?:[\da-f]{0,4}:){2,7}[\da-f]{0,4})`;
const PATH = String.raw`(?::\d+)?(?:[/?#][^\s<>()[\]"“”|*]*)?`;
/** Schemes whose rest has no slashes, such as `bitcoin:` and `tel:`. */
const SCHEME = String.raw`(?<![\p{L}\p{N}])[a-z][a-z\d+.-]{1,30}:(?=[^\s\d])[^\s<>()[\]"“”|*]+`;

const LETTER = String.raw`[\p{scx=Latin}\p{scx=Cyrillic}\p{scx=Greek}]`;

/** What is a contact detail or an address by its form. */
const FORMS: readonly RegExp[] = [
  new RegExp(SCHEME, "giu"),
  new RegExp(String.raw`(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]+@${HOST}`, "giu"),
  new RegExp(String.raw`(?<![\p{L}\p{N}@.])${ADDRESS}(?![\p{L}\p{N}.:])${PATH}`, "giu"),
  new RegExp(String.raw`(?<![\p{L}\p{N}@_-])${HOST}${PATH}`, "giu"),
  /(?<![\p{L}\p{N}])@[\p{L}\p{N}_][\p{L}\p{N}_.]+/gu,
  // Codes, such as wallets, keys and passwords: a digit follows a letter, or no word is as long.
  new RegExp(String.raw`(?<![\p{L}\p{N}])(?=[\p{L}\d]*${LETTER}\d)[\p{L}\d]+`, "gu"),
  /(?<![\p{L}\p{N}])[a-z]{26,}(?![\p{L}\p{N}])/giu,
];

/** Names and lower-case abbreviations that look like hosts. */
const NOT_HOSTS = /^(?:\p{L}\.)+\p{L}+$|^\d+(?:\.\d+)*\.?\p{L}{0,2}$/u;

/**
 * Returns web, e-mail and IP addresses, URIs, handles and codes of letters and digits (a password)
 * in a normalised text, as they stand there, without "www.". Phone numbers and postal addresses are
 * found as numbers and names.
 */
export function findContactDetails(text: string): string[] {
  let rest = text.replaceAll(/(?<![\p{L}\p{N}])(?:https?:\/\/)?www\./giu, "");
  const details: string[] = [];
  for (const form of FORMS) {
    rest = rest.replaceAll(form, (found) => {
      if (NOT_HOSTS.test(found)) return found;
      details.push(found.replace(/[.,;:!?…]+$/u, "").replace(/^https?:\/\//i, ""));
      return " ";
    });
  }
  return details;
}
