/* Plain e-mails whose lines flow (RFC 3676): a line that ends with a space goes on in the next one, unless that is quoted more deeply. */

const DECLARED = /^(content-type:[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*?;\s*format="?)flowed/gim;
/** The space at the end of a line is not part of the text. The library knows which part of the e-mail says so. */
const WITHOUT_SPACES = /;\s*delsp="?yes/i;

/** The e-mail without its declaration, because the library joins lines of answers with those that they quote; undefined: leave it to the library. */
export const withoutFlow = (bytes: Uint8Array): Uint8Array | undefined => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!buffer.includes("flowed") && !buffer.includes("Flowed")) return undefined;
  const source = buffer.toString("latin1");
  if (WITHOUT_SPACES.test(source)) return undefined;
  const fixed = source.replace(DECLARED, "$1fixed");
  return fixed === source ? undefined : Buffer.from(fixed, "latin1");
};

const quoteOf = (line: string): string => /^(?:>[ >]*)?/.exec(line)?.[0].replaceAll(" ", "") ?? "";

const flows = (line: string): boolean => line.endsWith(" ") && !/^(?:>[ >]*)?-- $/.test(line);

/** The text with its flowing lines joined. */
export const joinFlow = (text: string): string => {
  const joined: string[] = [];
  let open = false;
  let quote = "";
  for (const line of text.split(/\r?\n/)) {
    const own = quoteOf(line);
    const words = own === "" ? line.replace(/^ /, "") : line.replace(/^>[ >]*/, "");
    if (open && own === quote && words.trim() !== "" && !/^-- $/.test(words)) joined[joined.length - 1] += words;
    else joined.push(own === "" ? words : `${own} ${words}`);
    open = flows(line);
    quote = own;
  }
  return joined.join("\n");
};
