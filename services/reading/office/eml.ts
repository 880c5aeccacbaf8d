import PostalMime, { type Address, type Email } from "postal-mime";
import { htmlToMarkdown } from "../html/readHtml.ts";
import { normalizeText } from "../html/text.ts";
import { joinFlow, withoutFlow } from "./flowedText.ts";
import { type MailCalendars, readCalendars } from "./mailCalendars.ts";
import { writeFields } from "./mailFields.ts";
import { readPacked, unpackWinmail } from "./winmail.ts";
import { UnreadableFile, type Warn } from "../reader.ts";
import { escapePlain } from "../text/plain.ts";
import { ignoreWarnings, warnOfCount } from "../warnings.ts";

type Part = Email["attachments"][number];

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

/** Pictures inside the text are not named in the list of attachments. */
const isShownPicture = ({ mimeType, related }: Part): boolean => related === true && mimeType.startsWith("image/");

/** Maximum depth and number of nested e-mails that are read. */
const MAX_DEPTH = 5;
const MAX_MESSAGES = 100;

/** Warns of attachments that are not read. Only the text, calendars, attached e-mails and the names of attachments are read. */
const warnOfParts = (warn: Warn, { attachments }: Email, { read }: MailCalendars, messages: number): void => {
  const pictures = attachments.filter(isShownPicture).length;
  warnOfCount(warn, "embedded_files_left_out", attachments.length - pictures - read.size - messages);
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

/** An attached e-mail; null if it is damaged. */
const readAttached = async ({ content }: Part, warn: Warn, depth: number): Promise<string | null> => {
  try {
    return await readMail(typeof content === "string" ? Buffer.from(content) : new Uint8Array(content), warn, depth);
  } catch (error) {
    if (error instanceof UnreadableFile) return null;
    throw error;
  }
};

async function readMail(bytes: Uint8Array, warn: Warn, depth: number): Promise<string> {
  const received = await parse(bytes);
  const { parts, packed } = unpackWinmail(received.attachments);
  const email = { ...received, attachments: parts };
  const body = bodyMarkdown(email, warn);
  const unpacked: string[] = [];
  for (const one of packed) unpacked.push(...(await readPacked(one, body, warn)));
  const calendars = readCalendars(email.attachments, `${email.text ?? ""}\n${body}`);
  const attached = depth < MAX_DEPTH ? email.attachments.filter(({ mimeType }) => mimeType === "message/rfc822") : [];
  const messages: string[] = [];
  for (const part of attached.slice(0, MAX_MESSAGES)) {
    const text = await readAttached(part, warn, depth + 1);
    if (text !== null) messages.push(text);
  }
  warnOfParts(warn, email, calendars, messages.length);
  return [headerLines(email), body, ...unpacked, ...calendars.paragraphs, ...messages].filter(Boolean).join("\n\n");
}

/**
 * Reads an e-mail: its header fields, the names of its attachments, its text, its calendars, the attached e-mails, and all of these in a
 * winmail.dat. Throws UnreadableFile.
 */
export const readEml = async (bytes: Uint8Array, warn: Warn = ignoreWarnings): Promise<string[]> => [
  await readMail(bytes, warn, 0),
];
