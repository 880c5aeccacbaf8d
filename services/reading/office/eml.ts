import PostalMime, { type Address, type Email } from "postal-mime";
import { markdownOfHtml } from "../html/readHtml.ts";
import { plainText } from "../html/text.ts";
import { UnreadableFile } from "../reader.ts";
import { escapePlain } from "../text/plain.ts";

/** What would be taken for an element, and is no address. */
const TAG = /<(?=[a-z/!?])(?![^\s<>]+@[^\s<>]+>)/gi;

const spell = ({ name, address }: Address): string =>
  name && address ? `${name} <${address}>` : (address ?? name ?? "");

const spellAll = (addresses: Address[] | undefined): string =>
  (addresses ?? [])
    .flatMap((address) => address.group ?? [address])
    .map(spell)
    .filter(Boolean)
    .join(", ");

const oneLine = (text: string): string => plainText(text).replace(/\s+/g, " ").trim();

const headerLines = (email: Email): string[] => {
  const attached = email.attachments.flatMap(({ filename, related }) => (filename && !related ? [filename] : []));
  const fields: [string, string][] = [
    ["From", email.from ? spellAll([email.from]) : ""],
    ["To", spellAll(email.to)],
    ["Cc", spellAll(email.cc)],
    ["Date", email.headers.find(({ key }) => key === "date")?.value ?? ""],
    ["Subject", email.subject ?? ""],
    ["Attachments", attached.join(", ")],
  ];
  return fields
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}: ${oneLine(value).replace(TAG, "\\<")}`);
};

const bodyOf = ({ html, text }: Email): string => {
  const page = html?.trim() ? markdownOfHtml(html) : "";
  return page === "" ? escapePlain(plainText(text ?? "").trim()) : page;
};

const parse = async (bytes: Uint8Array): Promise<Email> => {
  try {
    return await PostalMime.parse(bytes, { maxNestingDepth: 50 });
  } catch (cause) {
    throw new UnreadableFile("The file is damaged: it is not an e-mail.", { cause });
  }
};

/** Reads an e-mail: who wrote it, when and about what, then its text. Attachments are named. Throws UnreadableFile. */
export const readEml = async (bytes: Uint8Array): Promise<string[]> => {
  const email = await parse(bytes);
  return [[headerLines(email).join("  \n"), bodyOf(email)].filter(Boolean).join("\n\n")];
};
