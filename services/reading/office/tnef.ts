import { utf16 } from "./docFile.ts";
import { addProperties, newProperties, TYPE, type MapiProperties } from "./mapiProperties.ts";
import { toDate, type OutlookItem } from "./outlookFile.ts";
import { codePageEncoding, decodeBytes } from "./rtfCharset.ts";

/* Messages in TNEF streams ([MS-OXTNEF]): what Outlook sends as "winmail.dat" if it takes the recipient's program for Outlook. */

const SIGNATURE = 0x223e9f78;
/** Bytes before the attributes, before the data of each one, and after its data. */
const [HEADER, ATTRIBUTE_HEADER, CHECKSUM] = [6, 9, 2];
/** Bytes before the stream of a message that is an attachment. */
const OBJECT_HEADER = 16;
/** Maximum nesting of messages. */
const MAX_DEPTH = 5;

const ATTRIBUTE = { codePage: 0x9007, properties: 0x9003, attachment: 0x9002, attachmentProperties: 0x9005 };
const CONTENT = 0x3701;
/** Attributes that give a message the value of a property which it does not have. */
const MESSAGE_TEXTS: Record<number, number> = { 0x8004: 0x0037, 0x8008: 0x001a, 0x800c: 0x1000 };
const ATTACHMENT_VALUES: Record<number, { property: number; type: number }> = {
  0x8010: { property: 0x3704, type: TYPE.bytes },
  0x800f: { property: CONTENT, type: TYPE.binary },
};

function* attributesIn(stream: Buffer): Generator<{ id: number; data: Buffer }> {
  for (let at = HEADER; at + ATTRIBUTE_HEADER <= stream.length; ) {
    const end = at + ATTRIBUTE_HEADER + stream.readUInt32LE(at + 5);
    if (end > stream.length) return;
    yield { id: stream.readUInt16LE(at + 1), data: stream.subarray(at + ATTRIBUTE_HEADER, end) };
    at = end + CHECKSUM;
  }
}

const addValue = ({ values }: MapiProperties, property: number, type: number, value: Buffer): void => {
  if (!values.has(property)) values.set(property, { type, value });
};

interface Contents {
  message: MapiProperties;
  attachments: MapiProperties[];
  codePage: number;
}

const readContents = (stream: Buffer): Contents => {
  const contents: Contents = { message: newProperties(), attachments: [], codePage: 1252 };
  for (const { id, data } of attributesIn(stream)) {
    const attachment = contents.attachments.at(-1);
    const text = MESSAGE_TEXTS[id];
    const value = ATTACHMENT_VALUES[id];
    if (id === ATTRIBUTE.codePage && data.length >= 4) contents.codePage = data.readUInt32LE(0);
    else if (id === ATTRIBUTE.properties) addProperties(contents.message, data);
    else if (id === ATTRIBUTE.attachment) contents.attachments.push(newProperties());
    else if (id === ATTRIBUTE.attachmentProperties && attachment) addProperties(attachment, data);
    else if (text !== undefined) addValue(contents.message, text, TYPE.bytes, data);
    else if (value && attachment) addValue(attachment, value.property, value.type, data);
  }
  return contents;
};

const toItem = (
  { values, names }: MapiProperties,
  codePage: number,
  parts: Pick<OutlookItem, "attachments" | "message">,
): OutlookItem => {
  const valueOf = (property: number, type: number): Buffer | undefined => {
    const found = values.get(property);
    return found?.type === type ? found.value : undefined;
  };
  return {
    text(property) {
      const unicode = valueOf(property, TYPE.unicode);
      if (unicode) return utf16.decode(unicode).replaceAll("\0", "");
      const bytes = valueOf(property, TYPE.bytes);
      return bytes ? decodeBytes(bytes.toString("latin1"), codePageEncoding(codePage)).replaceAll("\0", "") : "";
    },
    binary: (property) => valueOf(property, TYPE.binary),
    number(property) {
      const value = values.get(property)?.value;
      return value && value.length >= 4 ? value.readUInt32LE(0) : undefined;
    },
    date(property) {
      const value = valueOf(property, TYPE.date);
      return value && toDate(value);
    },
    named: (name) => names.get(name),
    persons: [],
    ...parts,
  };
};

/** Opens a TNEF stream; if it is damaged, the part before the damage. Undefined for other files, and for messages nested too deeply. */
export const openTnef = (bytes: Uint8Array, depth = 0): OutlookItem | undefined => {
  const stream = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (depth > MAX_DEPTH || stream.length < HEADER || stream.readUInt32LE(0) !== SIGNATURE) return undefined;
  const { message, attachments, codePage } = readContents(stream);
  return toItem(message, codePage, {
    attachments: attachments.map((attachment) => {
      const content = attachment.values.get(CONTENT);
      const inner =
        content?.type === TYPE.object ? openTnef(content.value.subarray(OBJECT_HEADER), depth + 1) : undefined;
      return toItem(attachment, codePage, { attachments: [], ...(inner && { message: inner }) });
    }),
  });
};
