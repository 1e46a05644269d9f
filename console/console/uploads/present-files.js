/**
 * Says in one of the `notices` which of the files that were added together the index has already.
 */
export function openPresentFiles(notices) {
  let titles = [];
  let dismiss = () => {};
  return {
    /** Begins a new notice, with the next file. */
    reset() {
      titles = [];
      dismiss = () => {};
    },
    /** Adds a file by the title of its asset. */
    add(title) {
      titles.push(title);
      dismiss();
      dismiss =
        titles.length === 1
          ? notices.show(`This index already has this file, as “${title}”.`)
          : notices.show(`${titles.length} files are here already.`, { lines: titles });
    },
  };
}
