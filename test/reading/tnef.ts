/* TNEF streams ([MS-OXTNEF]), as Outlook sends them in a winmail.dat. */

const number = (value: number, bytes: 2 | 4 = 4): Buffer => {
  const written = Buffer.alloc(bytes);
  written.writeUIntLE(value, 0, bytes);
  return written;
};

/** A property of a message or an attachment: a text, bytes, a number, or a message that is attached. */
type Value = string | Buffer | number | { message: Buffer };

const sized = (value: Buffer): Buffer =>
  Buffer.concat([number(1), number(value.length), value, Buffer.alloc((4 - (value.length % 4)) % 4)]);

/** The header before an attached message. */
const OBJECT_HEADER = Buffer.alloc(16);

const property = ([id, value]: [string, Value]): Buffer => {
  const tag = (type: number): Buffer => Buffer.concat([number(type, 2), number(Number(id), 2)]);
  if (typeof value === "number") return Buffer.concat([tag(0x03), number(value)]);
  if (typeof value === "string") return Buffer.concat([tag(0x1f), sized(Buffer.from(`${value}\0`, "utf16le"))]);
  if (Buffer.isBuffer(value)) return Buffer.concat([tag(0x102), sized(value)]);
  return Buffer.concat([tag(0x0d), sized(Buffer.concat([OBJECT_HEADER, value.message]))]);
};

/** A time with a number as its name. */
const namedDate = ([name, date]: [string, Date], index: number): Buffer => {
  const time = Buffer.alloc(8);
  time.writeBigUInt64LE((BigInt(date.getTime()) + 11_644_473_600_000n) * 10_000n);
  const tag = Buffer.concat([number(0x40, 2), number(0x8000 + index, 2)]);
  return Buffer.concat([tag, Buffer.alloc(16), number(0), number(Number(name)), time]);
};

const properties = (values: Record<number, Value>, dates: Record<number, Date> = {}): Buffer => {
  const all = [...Object.entries(dates).map(namedDate), ...Object.entries(values).map(property)];
  return Buffer.concat([number(all.length), ...all]);
};

const attribute = (level: 1 | 2, id: number, data: Buffer): Buffer =>
  Buffer.concat([Buffer.from([level]), number(id), number(data.length), data, number(0, 2)]);

export interface TnefParts {
  /** The text in the encoding of `codePage`. */
  text?: Buffer;
  codePage?: number;
  properties?: Record<number, Value>;
  dates?: Record<number, Date>;
  attachments?: { title?: string; content?: Buffer; properties?: Record<number, Value> }[];
}

export const tnefStream = ({ text, codePage = 1252, attachments = [], ...message }: TnefParts): Buffer =>
  Buffer.concat([
    number(0x223e9f78),
    number(1, 2),
    attribute(1, 0x69007, Buffer.concat([number(codePage), number(0)])),
    ...(text ? [attribute(1, 0x2800c, text)] : []),
    attribute(1, 0x69003, properties(message.properties ?? {}, message.dates)),
    ...attachments.flatMap(({ title, content, properties: own = {} }) => [
      attribute(2, 0x69002, Buffer.alloc(14)),
      ...(title === undefined ? [] : [attribute(2, 0x18010, Buffer.from(`${title}\0`, "latin1"))]),
      ...(content ? [attribute(2, 0x6800f, content)] : []),
      attribute(2, 0x69005, properties(own)),
    ]),
  ]);
