/** The values of a text that has a JSON value in each line. Throws if a line is empty. */
export const jsonLines = (text: string): any[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
