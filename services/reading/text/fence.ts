/** Text as a fenced code block, with a fence longer than any in the text. */
export const fence = (text: string, language: string): string => {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const ticks = "`".repeat(longest + 1);
  return `${ticks}${language}\n${text.replace(/\n+$/, "")}\n${ticks}`;
};
