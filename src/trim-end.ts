/**
 * Returns a text without the characters at its end that match `pattern`, which is for one of them.
 * A pattern with `+$` takes quadratic time.
 */
export function trimEndOf(text: string, pattern: RegExp): string {
  for (let end = text.length; ;) {
    const length = text.codePointAt(end - 2)! > 0xff_ff ? 2 : 1;
    if (end === 0 || !pattern.test(text.slice(end - length, end))) return text.slice(0, end);
    end -= length;
  }
}
