/* Plain e-mails with flowed lines (RFC 3676): a line that ends with a space continues on the next line, unless their quote depths differ. */

const TYPE = /^content-type:[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/gim;
const FLOWED = /(;\s*format="?)flowed/i;
/** The space at the end of a line is not part of the text, for languages without spaces between words. */
const WITHOUT_SPACES = /;\s*delsp="?yes/i;

/** An e-mail without the declaration that its lines flow. */
export interface FlowedEmail {
  bytes: Uint8Array;
  /** Whether the spaces at which lines flow are removed from its text. */
  withoutSpaces: boolean;
}

/**
 * The e-mail without the declaration, because the library would join an answer with its quotation. Undefined if the parts of the
 * e-mail differ, so that the library must handle them.
 */
export const withoutFlow = (bytes: Uint8Array): FlowedEmail | undefined => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!buffer.includes("flowed") && !buffer.includes("Flowed")) return undefined;
  const kinds = new Set<boolean>();
  const fixed = buffer.toString("latin1").replace(TYPE, (type) => {
    if (FLOWED.test(type)) kinds.add(WITHOUT_SPACES.test(type));
    return type.replace(FLOWED, "$1fixed");
  });
  return kinds.size === 1 ? { bytes: Buffer.from(fixed, "latin1"), withoutSpaces: kinds.has(true) } : undefined;
};

const quoteOf = (line: string): string => /^(?:>[ >]*)?/.exec(line)?.[0].replaceAll(" ", "") ?? "";

const flows = (line: string): boolean => line.endsWith(" ") && !/^(?:>[ >]*)?-- $/.test(line);

/** The text with its flowed lines joined. */
export const joinFlow = (text: string, withoutSpaces: boolean): string => {
  const joined: string[] = [];
  let open = false;
  let quote = "";
  for (const line of text.split(/\r?\n/)) {
    const own = quoteOf(line);
    const stuffed = own === "" ? line.replace(/^ /, "") : line.replace(/^>[ >]*/, "");
    const continues = flows(line);
    const words = continues && withoutSpaces ? stuffed.slice(0, -1) : stuffed;
    if (open && own === quote && words.trim() !== "" && !/^-- $/.test(words)) joined[joined.length - 1] += words;
    else joined.push(own === "" ? words : `${own} ${words}`);
    open = continues;
    quote = own;
  }
  return joined.join("\n");
};
