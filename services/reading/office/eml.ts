import PostalMime, { type Address, type Email } from "postal-mime";
import { htmlToMarkdown } from "../html/readHtml.ts";
import { normalizeText } from "../html/text.ts";
import { joinFlow, withoutFlow } from "./flowedText.ts";
import { type MailCalendars, readCalendars } from "./mailCalendars.ts";
import { writeFields } from "./mailFields.ts";
import { UnreadableFile, type Warn } from "../reader.ts";
import { escapePlain } from "../text/plain.ts";
import { ignoreWarnings, warnOfCount } from "../warnings.ts";

const formatAddress = ({ name, address }: Address): string =>
  name && address ? `${name} <${address}>` : (address ?? name ?? "");

const formatAddresses = (addresses: Address[] | undefined): string =>
  (addresses ?? [])
    .flatMap((address) => address.group ?? [address])
    .map(formatAddress)
    .filter(Boolean)
    .join(", ");

const headerLines = (email: Email): string => {
  const attached = email.attachments.flatMap(({ filename, related }) => (filename && !related ? [filename] : []));
  const from = email.from ? formatAddresses([email.from]) : "";
  const replyTo = formatAddresses(email.replyTo);
  return writeFields([
    ["From", from],
    ["To", formatAddresses(email.to)],
    ["Cc", formatAddresses(email.cc)],
    ["Bcc", formatAddresses(email.bcc)],
    ["Reply-To", replyTo === from ? "" : replyTo],
    ["Date", email.headers.find(({ key }) => key === "date")?.value ?? ""],
    ["Subject", email.subject ?? ""],
    ["Attachments", attached.join(", ")],
  ]);
};

const bodyMarkdown = ({ html, text }: Email, warn: Warn): string => {
  const page = html?.trim() ? htmlToMarkdown(html, warn) : "";
  return page === "" ? escapePlain(normalizeText(text ?? "").trim()) : page;
};

/** Pictures that the text shows have no name in the list of attachments. */
const isShownPicture = ({ mimeType, related }: Email["attachments"][number]): boolean =>
  related === true && mimeType.startsWith("image/");

/** Warns of what hangs on the e-mail: its text, its calendars and the names of attachments are all that is read. */
const warnOfParts = (warn: Warn, { attachments }: Email, { read }: MailCalendars): void => {
  const pictures = attachments.filter(isShownPicture).length;
  warnOfCount(warn, "embedded_files_left_out", attachments.length - pictures - read.size);
  warnOfCount(warn, "images_without_text", pictures);
};

const parse = async (bytes: Uint8Array): Promise<Email> => {
  try {
    const flowed = withoutFlow(bytes);
    const email = await PostalMime.parse(flowed?.bytes ?? bytes, { maxNestingDepth: 50 });
    if (!flowed || email.text === undefined) return email;
    return { ...email, text: joinFlow(email.text, flowed.withoutSpaces) };
  } catch (cause) {
    throw new UnreadableFile("The file is damaged: it is not an e-mail.", { cause });
  }
};

/** Reads an e-mail: its header fields, the names of its attachments, then its text and what its calendars say. Throws UnreadableFile. */
export const readEml = async (bytes: Uint8Array, warn: Warn = ignoreWarnings): Promise<string[]> => {
  const email = await parse(bytes);
  const body = bodyMarkdown(email, warn);
  const calendars = readCalendars(email.attachments, `${email.text ?? ""}\n${body}`);
  warnOfParts(warn, email, calendars);
  return [[headerLines(email), body, ...calendars.paragraphs].filter(Boolean).join("\n\n")];
};
