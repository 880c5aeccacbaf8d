import { htmlToMarkdown } from "../html/readHtml.ts";
import { normalizeText } from "../html/text.ts";
import type { Warn } from "../reader.ts";
import { decodeText } from "../text/charset.ts";
import { escapePlain } from "../text/plain.ts";
import { warnOfCount } from "../warnings.ts";
import { readCompressedRtf, type MailBody } from "./compressedRtf.ts";
import { writeFields } from "./mailFields.ts";
import type { OutlookItem } from "./outlookFile.ts";
import { readRtf } from "./rtf.ts";

/* Reads e-mails and appointments of Outlook, from its files (.msg) and from e-mails (winmail.dat). */

/** Property numbers ([MS-OXPROPS]). */
const KIND = 0x001a;
const SUBJECT = 0x0037;
const SENDER = { name: 0x0c1a, address: 0x5d01, other: 0x0c1f };
const AUTHOR = { name: 0x0042, address: 0x5d02, other: 0x0065 };
const PERSON = { name: 0x3001, address: 0x39fe, other: 0x3003 };
const PERSON_KIND = 0x0c15;
const SENT = 0x0039;
const DELIVERED = 0x0e06;
const TEXT = 0x1000;
const HTML = 0x1013;
const RTF = 0x1009;
const ATTACHMENT_NAMES = [0x3707, 0x3704, 0x3001];
const CONTENT_ID = 0x3712;
const CONTENT_TYPE = 0x370e;
const CONTENT = 0x3701;
const IS_HIDDEN = 0x7ffe;
/** Names of the properties of an appointment. */
const [START, END, PLACE] = [0x820d, 0x820e, 0x8208];

/** Item types whose content is in other properties. */
const UNREAD_KIND = /^IPM\.(?:Contact|DistList|Task|Activity)/i;

export const isReadKind = (item: OutlookItem): boolean => !UNREAD_KIND.test(item.text(KIND));

const nameOf = (item: OutlookItem, { name, address, other }: typeof PERSON): string => {
  const [shown, own, alternative] = [name, address, other].map((property) => item.text(property).trim());
  const mail = own || (alternative?.includes("@") ? alternative : "");
  return shown && mail && shown !== mail ? `${shown} <${mail}>` : shown || mail || "";
};

const personsOf = (item: OutlookItem, kind: number): string =>
  item.persons
    .filter((person) => (person.number(PERSON_KIND) ?? 1) === kind)
    .map((person) => nameOf(person, PERSON))
    .filter(Boolean)
    .join(", ");

/** `2026-05-01 10:30 UTC`. */
const writeDate = (date: Date | undefined): string =>
  date ? `${date.toISOString().slice(0, 16).replace("T", " ")} UTC` : "";

const attachmentName = (item: OutlookItem): string =>
  ATTACHMENT_NAMES.map((property) => item.text(property).trim()).find(Boolean) ?? "";

interface AttachedFile {
  filename: string | null;
  mimeType: string;
  content: Uint8Array;
}

/** The name, the type and the bytes of an attachment. */
export const attachedFile = (item: OutlookItem): AttachedFile => ({
  filename: attachmentName(item) || null,
  mimeType: item.text(CONTENT_TYPE).trim().toLowerCase() || "application/octet-stream",
  content: item.binary(CONTENT) ?? new Uint8Array(),
});

const namedDate = (item: OutlookItem, name: number): string => {
  const property = item.named(name);
  return property === undefined ? "" : writeDate(item.date(property));
};

/** A property that only appointments have, as text. */
const namedText = (item: OutlookItem, name: number): string => {
  const property = item.named(name);
  return property === undefined ? "" : item.text(property);
};

export const appointmentFields = (item: OutlookItem): [name: string, value: string][] => [
  ["Start", namedDate(item, START)],
  ["End", namedDate(item, END)],
  ["Place", namedText(item, PLACE)],
];

const fieldsOf = (item: OutlookItem, files: readonly OutlookItem[]): string =>
  writeFields([
    ["From", nameOf(item, SENDER) || nameOf(item, AUTHOR)],
    ["To", personsOf(item, 1)],
    ["Cc", personsOf(item, 2)],
    ["Bcc", personsOf(item, 3)],
    ["Date", writeDate(item.date(SENT) ?? item.date(DELIVERED))],
    ["Subject", item.text(SUBJECT)],
    ...appointmentFields(item),
    ["Attachments", files.map(attachmentName).filter(Boolean).join(", ")],
  ]);

/** The text of a message in the best form that it has. */
function findBody(item: OutlookItem): MailBody {
  const bytes = item.binary(HTML);
  const html = bytes ? decodeText(bytes) : item.text(HTML);
  if (html.trim() !== "") return { kind: "page", html };
  const rtf = item.binary(RTF);
  return rtf ? readCompressedRtf(rtf) : { kind: "text", text: "" };
}

/** Reads a body. The plain text replaces one that has no text or is damaged. */
export async function readBody(item: OutlookItem, body: MailBody, warn: Warn): Promise<string> {
  const text = escapePlain(normalizeText(item.text(TEXT) || (body.kind === "text" ? body.text : "")).trim());
  if (body.kind === "page") return htmlToMarkdown(body.html, warn) || text;
  if (body.kind === "text") return text;
  const [markdown = ""] = await readRtf(body.rtf, warn).catch(() => []);
  return markdown.trim() || text;
}

const isPicture = (item: OutlookItem): boolean =>
  /^image\//i.test(item.text(CONTENT_TYPE)) || /\.(?:png|jpe?g|gif|bmp|webp|emz|wmz)$/i.test(attachmentName(item));

/** The rest of the attribute is only looked at, so that a further address in it is found, too. */
const CONTENT_ADDRESS = /cid:(?=([^"'<>]{0,500}))/g;

/** The content ids that a text shows, found in one pass, because a winmail.dat may have hundreds of thousands of attachments. */
const shownIds = (body: MailBody): Set<string> => {
  const ids = new Set<string>();
  if (body.kind !== "page") return ids;
  for (const [, rest = ""] of body.html.matchAll(CONTENT_ADDRESS)) {
    ids.add(rest.trim());
    ids.add(rest.split(/[\s)]/, 1)[0] ?? "");
  }
  return ids;
};

/** Pictures inside the text are not named in the list of attachments. */
const isShownPicture = (item: OutlookItem, shown: ReadonlySet<string>): boolean => {
  const id = item.text(CONTENT_ID).trim();
  return isPicture(item) && ((item.number(IS_HIDDEN) ?? 0) % 2 === 1 || (id !== "" && shown.has(id)));
};

/** The attached message that is read. Contacts and tasks have their content in other properties, and are left out like files. */
const messageIn = ({ message }: OutlookItem): OutlookItem | undefined =>
  message && isReadKind(message) ? message : undefined;

export interface OutlookContent {
  body: MailBody;
  /** Attachments that the text shows. */
  pictures: OutlookItem[];
  files: OutlookItem[];
  /** The attached messages that are read. */
  messages: OutlookItem[];
}

export function sortContent(item: OutlookItem): OutlookContent {
  const body = findBody(item);
  const shown = shownIds(body);
  const pictures = new Set(item.attachments.filter((one) => isShownPicture(one, shown)));
  const files = item.attachments.filter((one) => !messageIn(one) && !pictures.has(one));
  return { body, pictures: [...pictures], files, messages: item.attachments.flatMap((one) => messageIn(one) ?? []) };
}

/** A message, followed by its attached messages. */
export async function readOutlookItem(item: OutlookItem, warn: Warn): Promise<string[]> {
  const { body, pictures, files, messages } = sortContent(item);
  warnOfCount(warn, "images_without_text", pictures.length);
  warnOfCount(warn, "embedded_files_left_out", files.length);
  const texts = [fieldsOf(item, files), await readBody(item, body, warn)].filter(Boolean);
  for (const message of messages) texts.push(...(await readOutlookItem(message, warn)));
  return texts;
}
