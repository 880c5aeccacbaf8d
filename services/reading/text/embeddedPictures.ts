/* Pictures whose bytes are in a Markdown file, as programs export them. As text, each would be hundreds of passages without a word. */

/** Characters of an address from which on it is a picture rather than an example. */
const DATA = String.raw`data:image/[^\s<>()"']{200,}`;
const INLINE = new RegExp(
  String.raw`!\[([^[\]\n]{0,1000})\]\([ \t]*<?${DATA}>?(?:[ \t]+"[^"\n]{0,1000}")?[ \t]*\)`,
  "gi",
);
const DEFINITION = new RegExp(
  String.raw`^ {0,3}\[([^[\]\n]{1,200})\]:[ \t]*<?${DATA}>?(?:[ \t]+"[^"\n]{0,1000}")?[ \t]*(?:\n|$)`,
  "gim",
);
const REFERENCE = /!\[([^[\]\n]{0,1000})\](?:\[([^[\]\n]{0,200})\])?/g;
const TAG = /<img\b[^<>]*>/gi;
const IN_TAG = new RegExp(DATA, "i");
const ALT = /\balt\s*=\s*(?:"([^"]*)"|'([^']*)')/i;

const labelOf = (text: string): string => text.trim().replace(/\s+/g, " ").toLowerCase();

/** The text with the descriptions of such pictures in their place, and the number of those without one. */
export const withoutEmbeddedPictures = (markdown: string): { text: string; pictures: number } => {
  if (!/data:image\//i.test(markdown)) return { text: markdown, pictures: 0 };
  let pictures = 0;
  const describe = (description: string): string => {
    if (description.trim() === "") pictures += 1;
    return description;
  };
  const defined = new Set<string>();
  const text = markdown
    .replace(INLINE, (_, description: string) => describe(description))
    .replace(TAG, (tag) => {
      if (!IN_TAG.test(tag)) return tag;
      const [, double, single] = ALT.exec(tag) ?? [];
      return describe(double ?? single ?? "");
    })
    .replace(DEFINITION, (_, label: string) => {
      defined.add(labelOf(label));
      return "";
    });
  if (defined.size === 0) return { text, pictures };
  const shown = text.replace(REFERENCE, (whole, description: string, label?: string) =>
    defined.has(labelOf(label || description)) ? describe(description) : whole,
  );
  return { text: shown, pictures };
};
