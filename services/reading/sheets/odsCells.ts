/* The library takes drawings that are anchored at a cell for the end of its text, and loses the text, or for more of it. */

/** A tag of a drawing, with its slash and its attributes. */
const TAG = /<(\/?)draw:[\w-]+((?:\s[^<>"']*(?:"[^"]*"[^<>"']*|'[^']*'[^<>"']*)*)?\/?)>/g;

/** The content of an ODS without what is drawn on its sheets; unchanged if its tags do not match each other. */
export const withoutDrawings = (xml: string): string => {
  const kept: string[] = [];
  let [from, depth] = [0, 0];
  for (const { 0: tag, 1: slash, 2: attributes = "", index } of xml.matchAll(TAG)) {
    if (depth === 0) kept.push(xml.slice(from, index));
    if (slash === "/") depth -= 1;
    else if (!attributes.endsWith("/")) depth += 1;
    if (depth < 0) return xml;
    from = index + tag.length;
  }
  return depth === 0 ? kept.join("") + xml.slice(from) : xml;
};
