/** The delimiter row below the header of a Markdown table. */
const DELIMITER = /\n[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*(?::?-+:?)?[ \t]*$/;

/**
 * The header of the table whose rows the passage continues; undefined if it begins with anything else. The lead of a passage within a
 * table is the table's header, that of others the end of the text before.
 */
export const tableHeader = ({ lead, text }: { lead: string; text: string }): string | undefined => {
  const isRow = /^.*\|/.test(text.trimStart());
  return isRow && DELIMITER.test(lead) ? lead : undefined;
};
