/* Searches the documentation in the browser, so that queries are not sent anywhere. */

interface Section {
  /** Index of its page. */
  page: number;
  anchor: string;
  heading: string;
  text: string;
}

/** The index that the build writes: all words of the site, about 300 kB. */
export interface SearchIndex {
  pages: { path: string; title: string }[];
  sections: Section[];
}

export interface Hit {
  path: string;
  anchor: string;
  title: string;
  heading: string;
  /** Words around the first match. */
  excerpt: { text: string; isMatch: boolean }[];
}

const MAX_HITS = 20;
const AROUND = 70;
/** Weight of a match in a title or a heading, relative to one in the text. */
const TITLE_WEIGHT = 12;
const HEADING_WEIGHT = 8;

/** `"a phrase"` must match exactly; every other word matches by its beginning. */
export function parseQuery(query: string): string[] {
  const terms = [...query.matchAll(/"([^"]+)"?|(\S+)/g)].map(([, phrase, word]) => (phrase ?? word ?? "").trim());
  return [...new Set(terms.map((term) => term.toLowerCase().replace(/\s+/g, " ")))].filter(Boolean);
}

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const pattern = (term: string, flags: string): RegExp => new RegExp(`(?<![\\p{L}\\p{N}])${escape(term)}`, `iu${flags}`);

interface Term {
  one: RegExp;
  all: RegExp;
}

/** 0 if a term is missing. */
function score(terms: Term[], title: string, { heading, text }: Section): number {
  let sum = 0;
  for (const { one, all } of terms) {
    const inText = Math.min(text.match(all)?.length ?? 0, 4);
    const found = (one.test(title) ? TITLE_WEIGHT : 0) + (one.test(heading) ? HEADING_WEIGHT : 0) + inText;
    if (found === 0) return 0;
    sum += found;
  }
  return sum;
}

function excerptOf(text: string, terms: string[]): Hit["excerpt"] {
  const any = new RegExp(`(?<![\\p{L}\\p{N}])(?:${terms.map(escape).join("|")})`, "giu");
  const first = Math.max(0, text.search(any));
  const from = first <= AROUND ? 0 : text.indexOf(" ", first - AROUND) + 1;
  const shown = text.slice(from, first + 2 * AROUND);
  const parts: Hit["excerpt"] = from > 0 ? [{ text: "… ", isMatch: false }] : [];
  let at = 0;
  for (const match of shown.matchAll(any)) {
    parts.push({ text: shown.slice(at, match.index), isMatch: false }, { text: match[0], isMatch: true });
    at = match.index + match[0].length;
  }
  parts.push({ text: shown.slice(at) + (from + shown.length < text.length ? " …" : ""), isMatch: false });
  return parts.filter((part) => part.text !== "");
}

/** The sections that contain every term of the query, best first; equal ones in the order of the site. */
export function findSections(index: SearchIndex, query: string): Hit[] {
  const terms = parseQuery(query);
  if (terms.length === 0) return [];
  const patterns = terms.map((term) => ({ one: pattern(term, ""), all: pattern(term, "g") }));
  return index.sections
    .map((section) => ({ section, page: index.pages[section.page]! }))
    .map((found) => ({ ...found, score: score(patterns, found.page.title, found.section) }))
    .filter((found) => found.score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_HITS)
    .map(({ section: { anchor, heading, text }, page: { path, title } }) => ({
      path,
      anchor,
      title,
      heading,
      excerpt: excerptOf(text, terms),
    }));
}
