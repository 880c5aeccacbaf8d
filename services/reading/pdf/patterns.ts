const BULLET = "[•▪◦◻‣⁃∙·●○■□❑☐☒➢➤✓✔❖♦►▶–—*-]";
const NUMBER = "\\(?\\d{1,3}[.)]|\\(?[a-z]\\)|\\(?[ivx]{1,5}\\)";

/** The marker of a list item. */
export const LIST_MARKER = new RegExp(`^(?:(${BULLET})|(${NUMBER})) +(?=\\S)`);

/** Dot leaders in a table of contents. */
export const DOT_LEADERS = /(?:\. ?){4,}|…{2,}/;

/** The start of a bibliography entry. */
export const BIBLIOGRAPHY_ENTRY = /^\[[\w+ ]{1,12}\] \S/;

export const CAPTION =
  /^(?:fig(?:ure|\.)?|table|tab\.|algorithm|listing|scheme|chart|box|plate|abb(?:\.|ildung)|tabelle)(?: ?\d| [ivx]+\b| [a-z]\.?\d| [a-z](?=[.:]))|^source:/i;

/** A section number: `2`, `2.1` or `A.3`. */
const SECTION =
  /^(?:(?:chapter|section|part|appendix) )?(\d{1,2}(?:\.\d{1,3}){0,5}|[A-Z](?:\.\d{1,3}){1,4}|[IVX]{1,5}(?=\.))\.? +(?=\p{L})/iu;

/** The depth of the section number, from 1; null without one. */
export const sectionDepth = (text: string): number | null => {
  const number = SECTION.exec(text)?.[1];
  return number === undefined ? null : number.split(".").length;
};
